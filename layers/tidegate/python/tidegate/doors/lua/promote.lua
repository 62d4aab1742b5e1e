-- Promotes a checked answer: under its private name first, then renamed and given its life in one
-- step, so that a reader of the result sees the old value or the whole new one. Twice is once, and
-- an answer that was made later is left as it is: whoever comes late changes nothing.
-- KEYS[1]  tg:{<job key>}:stage     private
-- KEYS[2]  tg:{<job key>}:result    what the public path reads
-- KEYS[3]  tg:{<job key>}:pending   mark of the running job, no longer needed
-- KEYS[4]  tg:{<job key>}:negative  mark of a failure before, no longer true
-- ARGV[1]  the checked answer, in its envelope: characters 5 to 19 are when it was made
-- ARGV[2]  life, milliseconds, > 0
-- ARGV[3]  when it was made, milliseconds since the epoch
-- Returns  1 if it is public now, else 0
local there = tonumber(redis.call('GETRANGE', KEYS[2], 4, 18)) or 0
redis.call('DEL', KEYS[3])
if there > tonumber(ARGV[3]) then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('DEL', KEYS[4])
return 1

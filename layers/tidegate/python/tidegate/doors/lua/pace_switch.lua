-- Sets a model's switch as the job table has it. Turned on, it also ends a cool-down, what the
-- breaker has counted and what the limits owe: whoever resumes a model has seen to its vendor.
-- KEYS[1]  tg:{<model>}:pause  see pace_cool_down
-- KEYS[2…] tg:{<model>}:outcomes, :requests, :tokens, :low  see pace_cool_down, pace_take
-- ARGV[1]  1: off, nobody calls; 0: on
-- ARGV[2]  when it turns on by itself, milliseconds since the epoch; 0: never
-- ARGV[3]  1: an operator turned it now; 0: only made known here (again)
-- ARGV[4]  life of what is known, milliseconds
-- ARGV[5]  when it was turned, milliseconds since the epoch: who has read an older state of the
--          switch, and comes late with it, changes nothing
-- Returns  1, or 0 if a newer state is known
if (tonumber(redis.call('HGET', KEYS[1], 'turned_at') or '0') or 0) > tonumber(ARGV[5]) then
  return 0
end
redis.call('HSET', KEYS[1], 'known', 1, 'off', ARGV[1], 'off_until', ARGV[2],
  'turned_at', ARGV[5])
if ARGV[3] == '1' and ARGV[1] == '0' then
  redis.call('HDEL', KEYS[1], 'until', 'set_at', 'strikes', 'reason', 'probe', 'probe_until')
  redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1

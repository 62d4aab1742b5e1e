-- Releases a lease if it is ours; twice is once.
-- KEYS[1]  tg:{<job key>}:lease
-- ARGV[1]  owner's token
-- Returns  1 if it was ours, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0

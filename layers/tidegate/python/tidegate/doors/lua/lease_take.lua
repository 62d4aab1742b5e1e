-- Takes a lease, or renews our own: a reply that was lost does not lock us out.
-- KEYS[1]  tg:{<job key>}:lease
-- ARGV[1]  owner's token
-- ARGV[2]  life, milliseconds, > 0
-- Returns  {1, life} if it is ours now, else {0, what is left of the other's, milliseconds}
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return {0, redis.call('PTTL', KEYS[1])}
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, tonumber(ARGV[2])}

-- Takes a place among the calls in flight of a model; a set of leases, so a dead holder's place
-- comes back by itself. Keyed by reservation: the same call asked twice counts once.
-- KEYS[1]  tg:{<model>}:calls  sorted set: reservation -> end, milliseconds of the server's clock
-- ARGV[1]  reservation id
-- ARGV[2]  places there are
-- ARGV[3]  life of a place, milliseconds, > 0
-- Returns  {1, 0} if taken, else {0, milliseconds until the next place ends at the latest}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {0, tonumber(first[2]) - now}
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {1, 0}

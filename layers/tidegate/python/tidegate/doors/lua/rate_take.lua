-- Counts one request of a partner, by GCRA with a burst of a whole minute. Keyed by request: told
-- twice, it counts once. A refused one costs nothing.
-- KEYS[1]  tg:{partner:<id>}:posts  hash: used_until, milliseconds; last, the last request counted
-- ARGV[1]  request
-- ARGV[2]  milliseconds of one request
-- ARGV[3]  window, milliseconds
-- Returns  {1 if it may go on else 0, requests left now, milliseconds until one more may go on}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local cost, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local used = redis.call('HMGET', KEYS[1], 'used_until', 'last')
local used_until = math.max(tonumber(used[1] or '0') or 0, now)
local allowed = 1
if used[2] ~= ARGV[1] then
  if used_until + cost - window > now then
    allowed = 0
  else
    used_until = used_until + cost
    redis.call('HSET', KEYS[1], 'used_until', string.format('%.3f', used_until), 'last', ARGV[1])
    redis.call('PEXPIRE', KEYS[1], math.ceil(used_until - now) + 1)
  end
end
local left = math.max(0, math.floor((window - (used_until - now)) / cost + 0.001))
return {allowed, left, math.ceil(math.max(0, used_until + cost - window - now))}

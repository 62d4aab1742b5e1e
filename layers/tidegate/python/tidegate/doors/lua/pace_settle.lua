-- Ends a slot: its place is free, its tokens become what was used. Twice is once.
--
-- KEYS[1]  tg:{<model>}:pause      see pace_cool_down
-- KEYS[2]  tg:{<model>}:calls      sorted set: lane/partner/reservation -> end of its life
-- KEYS[3]  tg:{<model>}:requests   time until which the requests are used up
-- KEYS[4]  tg:{<model>}:tokens     the same of the tokens
-- KEYS[5]  tg:{<model>}:low        the same of the requests of lane low
-- KEYS[6]  tg:{<model>}:held:<reservation>   see pace_take
-- KEYS[7]  tg:{<model>}:outcomes   see pace_cool_down
-- ARGV[1]  lane/partner/reservation
-- ARGV[2]  unused: no call was made; answered: the vendor answers again; failed: neither
-- ARGV[3]  share of the reserved tokens that counts, 1: all, above 1: more than was reserved
-- ARGV[4]  time by which one call may run a limit into debt at most, milliseconds
-- ARGV[5]  job whose call the vendor did; empty: it refused or failed
-- ARGV[6]  outcomes that are kept
-- ARGV[7]  how long an outcome counts, milliseconds
-- Returns  1 if the slot was still open, else 0
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local limits = {KEYS[3], KEYS[4], KEYS[5]}

local function number(value) return tonumber(value or '0') or 0 end

local function set(key, until_)
  if until_ > now then
    redis.call('SET', key, string.format('%.3f', until_), 'PX', math.ceil(until_ - now) + 1)
  else
    redis.call('DEL', key)
  end
end

redis.call('ZREM', KEYS[2], ARGV[1])
local held = redis.call('HMGET', KEYS[6], 'begun', 'from1', 'end1', 'from2', 'end2', 'from3', 'end3')
if redis.call('DEL', KEYS[6]) == 0 then
  return 0
end
if ARGV[2] == 'unused' then
  for i, key in ipairs(limits) do
    -- Only the last slot of a limit can be taken back: see pace_take.
    if held[2 * i + 1] and redis.call('GET', key) == held[2 * i + 1] then
      set(key, number(held[2 * i]))
    end
  end
elseif held[5] and tonumber(ARGV[3]) ~= 1 then
  local reserved = number(held[5]) - number(held[4])
  local used_until = math.max(number(redis.call('GET', KEYS[4])), now)
  set(KEYS[4], used_until + math.min(reserved * (tonumber(ARGV[3]) - 1), tonumber(ARGV[4])))
end
if ARGV[5] ~= '' then
  redis.call('ZREM', KEYS[7], 'failing/' .. ARGV[5], 'refusing/' .. ARGV[5])
  redis.call('ZADD', KEYS[7], string.format('%.3f', now), 'answered/' .. ARGV[5])
  redis.call('ZREMRANGEBYRANK', KEYS[7], 0, -1 - tonumber(ARGV[6]))
  if redis.call('PTTL', KEYS[7]) < tonumber(ARGV[7]) then
    redis.call('PEXPIRE', KEYS[7], ARGV[7])
  end
end

local pause = redis.call('HMGET', KEYS[1], 'probe', 'strikes', 'set_at', 'until')
local after = number(held[1]) > number(pause[3]) and number(pause[4]) <= now
if ARGV[2] == 'answered' and number(pause[2]) > 0 and after then
  redis.call('HSET', KEYS[1], 'strikes', 0)
  redis.call('HDEL', KEYS[1], 'probe', 'probe_until', 'reason')
elseif pause[1] == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'probe', 'probe_until') -- the next one tries
end
return 1

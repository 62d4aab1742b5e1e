-- A slot in a model's pace: pause, calls in flight, requests and tokens by GCRA, in one step.
--
-- A slot that is due within the horizon is booked: whoever asks comes again when it is due. A
-- later one is refused, and nothing of the asking remains. Keyed by reservation: asked again, it
-- is the same slot. A crashed holder's place ends with its life, its share of the limits with time.
-- Times are milliseconds of the server's clock.
--
-- GCRA (ITU-T I.371; github.com/brandur/redis-cell): one time per limit, until which it is used up
-- at its steady rate; a call may begin when that lies no further ahead than the burst.
--
-- KEYS[1]  tg:{<model>}:pause      see pace_cool_down
-- KEYS[2]  tg:{<model>}:calls      sorted set: lane/partner/reservation -> end of its life
-- KEYS[3]  tg:{<model>}:requests   time until which the requests are used up
-- KEYS[4]  tg:{<model>}:tokens     the same of the tokens
-- KEYS[5]  tg:{<model>}:low        the same of the requests of lane low
-- KEYS[6]  tg:{<model>}:held:<reservation>   hash: start, begun; from<i> and end<i>, what it took of
--          limit i (requests, tokens, low)
-- ARGV[1]  lane/partner/reservation
-- ARGV[2]  life of a place, > 0
-- ARGV[3]  places
-- ARGV[4]  places of lane low; 0: the call is not of that lane
-- ARGV[5]  time of one request, 0: no limit
-- ARGV[6]  time of this call's tokens, 0: no limit
-- ARGV[7]  time of one request of lane low, 0: no limit
-- ARGV[8]  burst
-- ARGV[9]  horizon
-- ARGV[10] time in which a lowered rate would rise from nothing to the whole
-- Returns  {1, 0, 'granted'}, or {0, wait, why}: `booked` is a slot of its own, the other whys are
--          unknown (the switch is not known here), switched_off, paused (the vendor asked for it),
--          account, failing, refusing (paused for that), probing, calls, low_calls, requests, tokens, low_requests
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local life, horizon, burst = tonumber(ARGV[2]), tonumber(ARGV[9]), tonumber(ARGV[8])

local function number(value) return tonumber(value or '0') or 0 end
local function text(value) return string.format('%.3f', value) end

local limits = {KEYS[3], KEYS[4], KEYS[5]}
local held = redis.call('HMGET', KEYS[6], 'start', 'from1', 'end1', 'from2', 'end2', 'from3', 'end3')

local pause = redis.call('HMGET', KEYS[1], 'known', 'off', 'off_until', 'until', 'strikes',
  'probe', 'probe_until', 'factor', 'factor_at', 'reason')

-- Only the last slot of a limit can be taken back: behind any other one, calls are booked already.
local function give_back()
  for i, key in ipairs(limits) do
    local from, end_ = held[2 * i], held[2 * i + 1]
    if end_ and redis.call('GET', key) == end_ then
      if number(from) > now then
        redis.call('SET', key, from, 'PX', math.ceil(number(from) - now))
      else
        redis.call('DEL', key)
      end
    end
  end
  redis.call('DEL', KEYS[6])
  redis.call('ZREM', KEYS[2], ARGV[1])
  if pause[6] == ARGV[1] then
    redis.call('HDEL', KEYS[1], 'probe', 'probe_until') -- a probe that was only booked
  end
end

local function refused(wait, why)
  return {0, math.ceil(math.max(wait, 1)), why}
end

-- Is the model paused, or is somebody trying whether the vendor answers again?
if not pause[1] then
  return {0, 0, 'unknown'}
end
if pause[2] == '1' and (number(pause[3]) == 0 or number(pause[3]) > now) then
  give_back()
  local left = number(pause[3]) == 0 and 86400000 or number(pause[3]) - now
  return refused(left, 'switched_off')
end
if number(pause[4]) > now then
  give_back()
  return refused(number(pause[4]) - now, pause[10] == 'throttled' and 'paused' or pause[10])
end
local cooling = number(pause[5]) > 0
if cooling and pause[6] and pause[6] ~= ARGV[1] and number(pause[7]) > now then
  give_back()
  return refused(number(pause[7]) - now, 'probing')
end

-- Is there a place among the calls in flight?
local factor = math.min(1, (tonumber(pause[8] or '1') or 1)
  + math.max(0, now - number(pause[9])) / tonumber(ARGV[10]))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local mine = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not mine then
  local places = math.max(1, math.floor(tonumber(ARGV[3]) * factor + 0.001))
  local in_flight = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  if #in_flight / 2 >= places then
    return refused(in_flight[2] - now, 'calls')
  end
  local low_places, low, first = tonumber(ARGV[4]), 0, nil
  if low_places > 0 then
    for i = 1, #in_flight, 2 do
      if string.sub(in_flight[i], 1, 4) == 'low/' then
        low, first = low + 1, first or in_flight[i + 1]
      end
    end
    if low >= low_places then
      return refused(first - now, 'low_calls')
    end
  end
end

-- When do the limits allow it?
if not held[1] then
  local start, why = now, 'requests'
  local slot = {}
  local whys = {'requests', 'tokens', 'low_requests'}
  for i, key in ipairs(limits) do
    local cost = tonumber(ARGV[4 + i]) / factor
    if cost > 0 then
      local from = math.max(number(redis.call('GET', key)), now)
      slot[i] = {from, from + cost}
      local earliest = from - math.max(burst - cost, 0)
      if earliest > start then
        start, why = earliest, whys[i]
      end
    end
  end
  if start - now > horizon then
    return refused(start - now, why)
  end
  redis.call('HSET', KEYS[6], 'start', text(start))
  for i, key in ipairs(limits) do
    if slot[i] then
      local from, end_ = text(slot[i][1]), text(slot[i][2])
      redis.call('SET', key, end_, 'PX', math.ceil(slot[i][2] - now) + 1)
      redis.call('HSET', KEYS[6], 'from' .. i, from, 'end' .. i, end_)
    end
  end
  redis.call('PEXPIRE', KEYS[6], math.ceil(life))
  held = {text(start)}
end
if cooling then
  redis.call('HSET', KEYS[1], 'probe', ARGV[1], 'probe_until', text(now + life))
end
if number(held[1]) > now then
  return refused(number(held[1]) - now, 'booked')
end
redis.call('HSET', KEYS[6], 'begun', text(now))
redis.call('ZADD', KEYS[2], text(now + life), ARGV[1])
if redis.call('PTTL', KEYS[2]) < life then -- others may live longer
  redis.call('PEXPIRE', KEYS[2], math.ceil(life))
end
return {1, 0, 'granted'}

-- Circuit breaker and cool-down: pauses a model because its vendor asked for it or fails, until the
-- latest of all deadlines, then one probe, then normal. Keyed by reservation: told twice, once.
--
-- A refusal (429, our account) pauses at once. A failure (5xx, timeout, dropped connection) or a
-- refusal that nobody understands only counts, by job, among the last outcomes; it pauses where
-- enough of them are of its kind, and again where the model is probed after such a pause. One job
-- that always fails is dead-lettered for it, and closes the model to nobody.
--
-- A refusal of a call that began after the last pause was set is a new strike: the pause doubles if
-- the reason is the same, the rate is lowered. Refusals of calls under way before are of one wave.
--
-- KEYS[1]  tg:{<model>}:pause  hash:
--            known, off, off_until, turned_at   the operator's switch (see pace_switch)
--            until, set_at, reason    the cool-down; strikes: how often in a row for this reason
--            probe, probe_until       whose call tries whether the vendor answers again
--            factor, factor_at        share of the limits that is used, and since when
--            last                     the last refusal told
-- KEYS[2]  tg:{<model>}:held:<reservation>   see pace_take
-- KEYS[3]  tg:{<model>}:outcomes  sorted set: <reason or answered>/<job> -> when; each job once
-- ARGV[1]  lane/partner/reservation
-- ARGV[2]  wait the vendor asked for, milliseconds; 0: none
-- ARGV[3]  first pause, milliseconds
-- ARGV[4]  longest pause of our own, milliseconds; what the vendor asks for may be longer
-- ARGV[5]  reason
-- ARGV[6]  what the rate is multiplied by
-- ARGV[7]  lowest factor
-- ARGV[8]  time in which a lowered rate would rise from nothing to the whole, milliseconds
-- ARGV[9]  life of what is known, milliseconds
-- ARGV[10] job
-- ARGV[11] outcomes of this reason that pause the model; 0: each does
-- ARGV[12] among how many of the last outcomes
-- ARGV[13] share of those that must be of this reason
-- ARGV[14] how long an outcome counts, milliseconds
-- ARGV[15] outcomes that are kept
-- Returns  {milliseconds until the pause ends, 0: it goes on; strikes}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000

local function number(value) return tonumber(value or '0') or 0 end
local function text(value) return string.format('%.3f', value) end

local pause = redis.call('HMGET', KEYS[1], 'until', 'set_at', 'strikes', 'factor', 'factor_at',
  'last', 'probe', 'reason')
local until_, strikes = number(pause[1]), number(pause[3])
if pause[6] == ARGV[1] then
  return {math.max(0, math.ceil(until_ - now)), strikes}
end

-- Do the last outcomes say that it is the vendor, and not one job?
local needed = tonumber(ARGV[11])
if needed > 0 then
  for _, kind in ipairs({'answered', 'failing', 'refusing'}) do
    redis.call('ZREM', KEYS[3], kind .. '/' .. ARGV[10])
  end
  redis.call('ZADD', KEYS[3], text(now), ARGV[5] .. '/' .. ARGV[10])
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[15]))
  if redis.call('PTTL', KEYS[3]) < tonumber(ARGV[14]) then
    redis.call('PEXPIRE', KEYS[3], ARGV[14])
  end
  local last = redis.call('ZREVRANGEBYSCORE', KEYS[3], '+inf', text(now - tonumber(ARGV[14])),
    'LIMIT', 0, ARGV[12])
  local of_it = 0
  for _, outcome in ipairs(last) do
    if string.sub(outcome, 1, #ARGV[5]) == ARGV[5] then
      of_it = of_it + 1
    end
  end
  local probed = strikes > 0 and pause[8] == ARGV[5]
  if not probed and (of_it < needed or of_it < #last * tonumber(ARGV[13])) then
    return {0, strikes}
  end
end

local begun = number(redis.call('HGET', KEYS[2], 'begun'))
local in_a_row = pause[8] == ARGV[5] and strikes or 0
if strikes == 0 or begun > number(pause[2]) then
  in_a_row = in_a_row + 1
  local factor = math.min(1, (tonumber(pause[4] or '1') or 1)
    + math.max(0, now - number(pause[5])) / tonumber(ARGV[8]))
  factor = math.max(tonumber(ARGV[7]), factor * tonumber(ARGV[6]))
  redis.call('HSET', KEYS[1], 'factor', string.format('%.6f', factor), 'factor_at', text(now),
    'set_at', text(now))
end
in_a_row = math.max(in_a_row, 1)
local own = math.min(tonumber(ARGV[4]), tonumber(ARGV[3]) * 2 ^ (in_a_row - 1))
local ends = now + math.max(own, tonumber(ARGV[2]))
if ends >= until_ then -- of two reasons in one wave the longer one stands
  until_, strikes = ends, in_a_row
  redis.call('HSET', KEYS[1], 'until', text(until_), 'strikes', strikes, 'reason', ARGV[5])
end
redis.call('HSET', KEYS[1], 'last', ARGV[1])
if pause[7] == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'probe', 'probe_until')
end
local left = math.ceil(until_ - now)
redis.call('PEXPIRE', KEYS[1], left + tonumber(ARGV[9]))
return {left, strikes}

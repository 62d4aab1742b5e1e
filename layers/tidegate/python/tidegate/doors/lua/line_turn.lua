-- Whose turn is it? Partners take turns in the order of their names (round robin), those under
-- their cap of calls in flight before the others. The asking job is in hand and leaves the line;
-- if it is another partner's turn, so does the job that is named.
-- KEYS[1]  tg:{<model>}:line or :line-low   sorted set by name: partner/time/job
-- KEYS[2]  tg:{<model>}:turn or :turn-low   hash: partner, whose turn was last; asked, chosen: the
--          last asking and its answer
-- KEYS[3]  tg:{<model>}:calls               sorted set: lane/partner/reservation -> end of its life
-- ARGV[1]  the asking job: partner/time/job
-- ARGV[2]  its partner
-- ARGV[3]  calls in flight a partner may have while others wait
-- ARGV[4]  partners looked at, at most
-- ARGV[5]  life of the turn, milliseconds
-- ARGV[6]  name of this asking: told twice, it has the same answer and takes nobody else
-- Returns  the other partner's job: partner/time/job; '' if the asking job goes on
local mine, cap = ARGV[2], tonumber(ARGV[3])
local last = redis.call('HMGET', KEYS[2], 'partner', 'asked', 'chosen')
if last[2] == ARGV[6] then return last[3] end
redis.call('ZADD', KEYS[1], 0, ARGV[1])

local running = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  local partner = string.match(member, '^[^/]*/([^/]*)/')
  if partner then running[partner] = (running[partner] or 0) + 1 end
end

-- The first of the line after a partner, and round to the beginning. '0' comes after '/'.
local function after(partner)
  local found = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. partner .. '0', '+', 'LIMIT', 0, 1)
  if #found == 0 then
    found = redis.call('ZRANGEBYLEX', KEYS[1], '-', '+', 'LIMIT', 0, 1)
  end
  return found[1]
end

local at, first, turn, chosen = last[1] or '', nil, mine, ''
for _ = 1, tonumber(ARGV[4]) do
  local member = after(at)
  local partner = string.match(member, '^([^/]*)/')
  if partner == first then break end -- all are at their cap: it is lent to the one who asks
  first, at = first or partner, partner
  if (running[partner] or 0) < cap then
    if partner ~= mine then turn, chosen = partner, member end
    break
  end
end
redis.call('ZREM', KEYS[1], ARGV[1])
if chosen ~= '' then redis.call('ZREM', KEYS[1], chosen) end
redis.call('HSET', KEYS[2], 'partner', turn, 'asked', ARGV[6], 'chosen', chosen)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return chosen

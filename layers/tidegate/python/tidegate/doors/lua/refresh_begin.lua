-- Begins the making anew of a stale answer, for one of those who found it stale. The mark names the
-- answer: who comes late, having found stale what is anew by now, begins nothing, and the mark of
-- an older answer's refresh keeps nobody.
-- KEYS[1]  tg:{<job key>}:refresh  hash: at, when the stale answer was made, milliseconds; by
-- ARGV[1]  who begins: told twice, it begins once
-- ARGV[2]  when the stale answer was made, milliseconds since the epoch
-- ARGV[3]  life, milliseconds: in which no other begins for this answer
-- Returns  1 if this one begins, else 0
local mark = redis.call('HMGET', KEYS[1], 'at', 'by')
if mark[1] and tonumber(mark[1]) >= tonumber(ARGV[2]) and mark[2] ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'at', ARGV[2], 'by', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1

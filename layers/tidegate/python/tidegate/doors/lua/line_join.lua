-- Puts a waiting job into its partner's line; there already, it stays where it is.
-- KEYS[1]  tg:{<model>}:line or :line-low   sorted set by name: partner/time/job
-- ARGV[1]  partner/time/job
-- ARGV[2]  life of the line, milliseconds
-- ARGV[3]  the partner
-- Returns  how many jobs are worked on before it, if partners take turns: those of its partner that
--          stand before it, as many times as all the line is longer than its partner's part
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
-- '0' comes after '/'.
local first, last = '[' .. ARGV[3] .. '/', '(' .. ARGV[3] .. '0'
local before = redis.call('ZLEXCOUNT', KEYS[1], first, '(' .. ARGV[1])
local own = redis.call('ZLEXCOUNT', KEYS[1], first, last)
return math.floor(before * redis.call('ZCARD', KEYS[1]) / own)

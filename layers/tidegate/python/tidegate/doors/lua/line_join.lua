-- Puts a waiting job into its partner's line; there already, it stays where it is.
-- KEYS[1]  tg:{<model>}:line or :line-low   sorted set by name: partner/time/job
-- ARGV[1]  partner/time/job
-- ARGV[2]  life of the line, milliseconds
-- Returns  how many of all wait before it in the line
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANK', KEYS[1], ARGV[1])

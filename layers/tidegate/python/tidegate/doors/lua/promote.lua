-- Promotes a checked answer: under its private name first, then renamed and given its life in one
-- step, so that a reader of the result sees the old value or the whole new one. Twice is once.
-- KEYS[1]  tg:{<job key>}:stage    private
-- KEYS[2]  tg:{<job key>}:result   what the public path reads
-- KEYS[3]  tg:{<job key>}:pending  mark of the running job, no longer needed
-- ARGV[1]  the checked answer, JSON
-- ARGV[2]  life, milliseconds, > 0
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('DEL', KEYS[3])
return 1

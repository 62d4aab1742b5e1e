"""An exhaustive explorer of faults: the shipped handlers, doors in memory, a virtual clock.

`hub` runs handlers as greenlets and offers faults at every call of a door; `memory_*` are the
doors; `deployment` and `world` put them together; `scenarios` say what happens, `always`,
`paced`, `caching`, `gated`, `at_rest` and `bounds` what must hold; `explore` tries every plan with
at most so many faults; `mutants` breaks the design on purpose, `hunt` looks whether that is found.

A crash after a call is the crash before the same actor's next one: nothing else happens between;
so a crash is offered before each call that has an effect, and after the last one as the reply
or the acknowledgement that nobody hears. An error before a read stands for a reply to it that is
lost. A wipe of Redis is offered at each of its calls: when between two of them makes no odds.

A run is a plan `{choice: option}` and nothing else: the same plan is the same run, always. Read a
run with `python -m tests.explorer SCENARIO CHOICE:OPTION ...`.
"""

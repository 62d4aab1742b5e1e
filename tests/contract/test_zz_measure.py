import time, cProfile, pstats
from tests.contract.stories import STORIES
from tests.contract.test_lost_replies import world
def test_measure(world):
    def once():
        for s in STORIES:
            world.begin(); s(world); world.picture()
    once()
    t=time.time(); once(); print("TOTAL", time.time()-t)
    p=cProfile.Profile(); p.enable(); once(); p.disable()
    pstats.Stats(p).sort_stats("cumulative").print_stats(70)
    pstats.Stats(p).sort_stats("tottime").print_stats(25)

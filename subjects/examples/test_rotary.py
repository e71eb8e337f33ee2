import sextant
from rotary_function import rotate


@sextant.mark(spec="llama-2-7b")
def test_rotate(sextant):
    sextant(rotate, layout="bhnd")

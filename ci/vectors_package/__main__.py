import sys

from sextant_vectors import files, run

sys.path.insert(0, "")
sys.exit(run.main(sys.argv[1], *files(*sys.argv[2:])))

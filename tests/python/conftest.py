import os
import pathlib
import sys

import tenon

sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ["PYTHONPATH"] = str(pathlib.Path(tenon.__file__).resolve().parents[1])  # for the programs that tests start

# Home Assistant serves its own validator, probatio, under this name.
from probatio import *

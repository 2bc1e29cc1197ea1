import CNATS
import TagTracking

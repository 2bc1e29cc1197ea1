import CPostgreSQL
import TagTracking

import XCTest
import LiveMap

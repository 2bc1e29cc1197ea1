import XCTest
import SessionMetrics

import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class PressureMeanTests: XCTestCase {
    func testTheStandardPressureGivesSeaLevel() {
        expectClose(height(of: [1013.25]), 0, within: 1e-6)
    }

    func testTheStandardAtmosphereHas954HectopascalAt500Metres() {
        // ICAO Doc 7488: 954.61 hPa at 500 m.
        expectClose(height(of: [954.61]), 500, within: 0.5)
    }

    func testTheHeightUsesTheMeanOfTheReadings() {
        expectClose(height(of: [1012, 1014.5]), 0, within: 1e-6)
    }

    func testTheMeanIgnoresAnInvalidPressure() {
        expectClose(height(of: [1013.25, .nan, 0, -5, 101_325, .infinity]), 0, within: 1e-6)
    }

    func testWithoutReadingsThereIsNoHeight() {
        XCTAssertNil(height(of: []))
    }

    func testDrainingTheHeightRemovesIt() {
        var mean = PressureMean()
        mean.add(1000)
        XCTAssertNotNil(mean.drainHeight())
        XCTAssertNil(mean.drainHeight())
    }

    private func height(of pressures: [Double]) -> Double? {
        var mean = PressureMean()
        for pressure in pressures { mean.add(pressure) }
        return mean.drainHeight()
    }
}

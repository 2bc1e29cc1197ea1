import XCTest

@testable import indoorloc

final class GatewayBenchTests: XCTestCase {
    func testEachMessageHasItsReading() throws {
        for gateway in GatewayBench.Gateway.allCases {
            let bench = GatewayBench(gateway, messages: 120)
            let sum = try XCTUnwrap(bench.decode(), gateway.rawValue)
            // The mean of the RSSI from -99 to -40 dBm, and the decimals of ESPresense.
            XCTAssertEqual(sum / 120, gateway == .espresense ? -69.75 : -69.5, accuracy: 1e-9, gateway.rawValue)
        }
    }
}

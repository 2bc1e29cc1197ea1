import IndoorLocalization
import TagTracking
import XCTest
@testable import indoorloc

/// The lines of 'track' and of the workers of a fleet about gateways that the venue doesn't have.
final class UnknownGatewayLogTests: XCTestCase {
    private func gateway(_ name: String, nearest: String? = nil) -> GatewayActivity.UnknownGateway {
        .init(name: name, latest: .zero, nearest: nearest)
    }

    func testEachGatewayHasOneLineWithItsRemedy() {
        var log = UnknownGatewayLog()
        XCTAssertEqual(
            log.lines(about: [gateway("porch"), gateway("wets", nearest: "west")]),
            [
                #"unknown gateway "porch": add it to the venue, or to the aliases of a receiver"#,
                #"unknown gateway "wets": is it "west"? Correct its name on the gateway, or add it to the aliases of the "#
                    + "receiver",
            ])
        XCTAssertEqual(log.lines(about: [gateway("porch"), gateway("attic")]).count, 1)
    }

    func testAForeignDeviceCannotFillTheLog() {
        var log = UnknownGatewayLog()
        let lines = (0..<50).flatMap { log.lines(about: [gateway("stranger-\($0)")]) }
        XCTAssertEqual(lines.count, 20)
    }
}

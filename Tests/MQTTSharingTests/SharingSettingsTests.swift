import IndoorLocalization
import MQTTSharing
import XCTest

final class SharingSettingsTests: XCTestCase {
    private func error(_ change: (inout MQTTSharingSettings) -> Void) -> String? {
        var settings = MQTTSharingSettings()
        change(&settings)
        do throws(MQTTSharingError) {
            _ = try MQTTPositionSharing(MQTTBroker(), device: DeviceID(rawValue: "cart")!, settings: settings)
            return nil
        } catch { return "\(error)" }
    }

    func testSettingsOutOfRangeAreRefused() {
        let changes: [(String, (inout MQTTSharingSettings) -> Void)] = [
            ("interval", { $0.interval = .seconds(-1) }), ("interval", { $0.interval = .seconds(Int64.max) }),
            ("patience", { $0.patience = .seconds(-3) }), ("patience", { $0.patience = .zero }),
            ("keepAlive", { $0.keepAlive = .zero }), ("keepAlive", { $0.keepAlive = .seconds(65_536) }),
            ("firstPause", { $0.firstPause = .zero }), ("roomCapacity", { $0.roomCapacity = -1 }),
            ("serverCapacity", { $0.serverCapacity = -1 }),
        ]
        for (name, change) in changes {
            XCTAssertEqual(
                error(change)?.hasPrefix("the setting '\(name)' is "), true, "\(name): \(error(change) ?? "")")
        }
        XCTAssertEqual(error { $0.keepAlive = .zero }, "the setting 'keepAlive' is 0.0 s: give 5.0 s to 65535.0 s")
    }

    func testTheBoundsOfTheRangesAreAllowed() {
        XCTAssertNil(error { ($0.interval, $0.keepAlive, $0.patience) = (.zero, .seconds(5), .milliseconds(1)) })
        XCTAssertNil(
            error { ($0.interval, $0.keepAlive, $0.patience) = (.seconds(86_400), .seconds(65_535), .seconds(3600)) })
        XCTAssertNil(error { ($0.roomCapacity, $0.serverCapacity) = (0, 0) })
    }
}

import Foundation
import IndoorLocalization
import XCTest

/// Where tests run that need a Bluetooth stack.
enum Guest {
    /// A folder for what is to be kept of a run.
    ///
    /// - Throws: `XCTSkip` on a machine that is no guest.
    static func folder() throws -> URL {
        guard let path = ProcessInfo.processInfo.environment["BLUETOOTH_GUEST"] else {
            throw XCTSkip("runs in a guest with Bluetooth: .ci/guest")
        }
        return URL(filePath: path)
    }

    /// The present on the timeline of live sources: time since the machine's boot.
    static var present: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

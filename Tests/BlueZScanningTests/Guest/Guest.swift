import Foundation
import IndoorLocalization
import XCTest

/// The virtual machine for tests that need a Bluetooth stack.
enum Guest {
    /// Returns the folder for the output of a run.
    ///
    /// - Throws: `XCTSkip` outside a guest.
    static func folder() throws -> URL {
        guard let path = ProcessInfo.processInfo.environment["BLUETOOTH_GUEST"] else {
            throw XCTSkip("runs in a guest with Bluetooth: .ci/guest")
        }
        return URL(filePath: path)
    }

    /// The present on the timeline of live sources: the time since boot.
    static var present: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

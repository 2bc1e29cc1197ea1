import Foundation
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
}

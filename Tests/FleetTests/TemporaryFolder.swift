import Foundation
import XCTest

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/fleet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }
}

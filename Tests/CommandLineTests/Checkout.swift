import Foundation
import IndoorLocalizationTesting
import XCTest

/// The checkout that the tests run in.
enum Checkout {
    /// The package's root folder: that with `Fixtures`.
    static func root() throws -> URL { URL(filePath: try FixtureFolder(".").path).standardizedFileURL.parent }
}

extension URL {
    fileprivate var parent: URL { deletingLastPathComponent() }
}

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/command-line-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// The bytes of a file; a path that is not absolute begins at the checkout's root.
    func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path, relativeTo: Checkout.root()))
    }
}

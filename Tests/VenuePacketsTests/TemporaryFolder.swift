import FoundationEssentials
import XCTest

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/venue-packets-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Writes files below a folder, by their relative paths.
    func write(_ files: [String: String], to folder: String) throws {
        for (name, text) in files {
            let file = URL(filePath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }
}

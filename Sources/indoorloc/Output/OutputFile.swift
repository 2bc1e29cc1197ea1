import Foundation
import VenuePackets

/// A file that a command writes as a whole.
enum OutputFile {
    /// A file that cannot be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) cannot be written: \(reason)" }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw Failure(path: path, reason: error.systemReason)
        }
    }
}

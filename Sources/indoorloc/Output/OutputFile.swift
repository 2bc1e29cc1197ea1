import Foundation
import Glibc
import VenuePackets

/// A file that a command writes as a whole.
enum OutputFile {
    /// A file that cannot be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) cannot be written: \(reason)" }
    }

    /// Refuses a place where nothing can be written, before the work whose result belongs there.
    ///
    /// Nothing is created, as the work may fail, too.
    static func checkPlace(_ path: String) throws(Failure) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw Failure(path: path, reason: String(cString: strerror(EISDIR))) }
            return
        }
        let folder = URL(filePath: path).absoluteURL.deletingLastPathComponent().path
        guard access(folder, W_OK) == 0 else { throw Failure(path: path, reason: String(cString: strerror(errno))) }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw Failure(path: path, reason: error.systemReason)
        }
    }
}

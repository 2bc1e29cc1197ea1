import Foundation
import IndoorLocalizationTesting
import Synchronization

extension ServiceProcess {
    /// The options of `serve` in tests of the running service: those of `walk`, with a recording whose end never comes.
    ///
    /// After its end, the person of `stairs` stays at its last place, and the one of `one-floor` walks again.
    static func endlessWalk(_ name: String, from start: Double = 0) throws -> [String] {
        [
            "--venue", try FixtureFolder("office").path, "--replay", try EndlessFiles.path(of: name),
            "--replay-from", "\(start)",
        ]
    }
}

/// The endless recordings of this process, each written once and removed at the end of the process.
private enum EndlessFiles {
    private static let paths = Mutex<[String: String]>([:])

    static func path(of name: String) throws -> String {
        try paths.withLock { paths in
            if let path = paths[name] { return path }
            let recording = try FixtureFolder("recordings/" + name).file("scan.jsonl.gz")
            let path = FileManager.default.temporaryDirectory.path + "/endless-\(name)-\(UUID().uuidString).jsonl"
            if paths.isEmpty { atexit { EndlessFiles.remove() } }
            try EndlessRecording.write(recording, to: path)
            paths[name] = path
            return path
        }
    }

    private static func remove() {
        paths.withLock { paths in
            for path in paths.values { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}

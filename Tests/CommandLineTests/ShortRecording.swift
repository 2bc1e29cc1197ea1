import Foundation
import IndoorLocalizationTesting

/// The first seconds of a walk through the office as editable lines, which a debug build replays quickly.
struct ShortRecording {
    /// The lines, the header first.
    var lines: [String]

    /// Reads the header and `lines` lines after it; a hundred lines are about seven seconds.
    init(lines count: Int) throws {
        let path = try FixtureFolder("office/tracks").file("ground.jsonl")
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        lines = text.split(separator: "\n").prefix(count + 1).map(String.init)
    }

    /// Writes the lines into a folder.
    ///
    /// - Returns: the file's path.
    func write(to folder: String, as name: String = "short.jsonl") throws -> String {
        let path = folder + "/" + name
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        return path
    }
}

import Foundation
import IndoorLocalizationTesting
import XCTest

/// A data set without survey: the office's packet and the first seconds of a track.
enum ShortDataSet {
    /// Options of commands that locate the device, which save time where the accuracy is not tested.
    static let light = ["--set", "positioning.particleCount=100", "--set", "positioning.globalUpdateInterval=5"]

    /// Writes it as `set` into a folder.
    ///
    /// - Returns: its path.
    static func write(to folder: String) throws -> String {
        let set = folder + "/set"
        try FileManager.default.createDirectory(atPath: set + "/tracks", withIntermediateDirectories: true)
        for name in ["venue.json", "plans", "tiles"] {
            let source = try FixtureFolder("office").path + "/" + name
            try FileManager.default.copyItem(atPath: source, toPath: set + "/" + name)
        }
        _ = try ShortRecording(lines: 250).write(to: set + "/tracks")
        return set
    }

    /// The output of `evaluate --json`.
    static func figures(_ text: String) throws -> [String: Any] {
        try XCTUnwrap(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], text)
    }
}

import Foundation
import IndoorLocalization
import ScanRecording

/// Options that several commands share, and their values.
extension CommandOption {
    package static let venue = CommandOption(
        name: "venue", argument: "V", help: "venue packet: a folder, a zip file, or a venue.json")
    static let output = CommandOption(name: "output", short: "o", argument: "FILE", help: "output file")
    /// The venue packet that a command writes.
    static let packetOutput = CommandOption(
        name: "output", short: "o", argument: "PACKET",
        help: "the packet to write: a zip file if the name ends in .zip, otherwise a folder")
    static let radioMap = CommandOption(
        name: "radio-map", argument: "MAP", help: "radio map from 'indoorloc survey', used instead of the packet's",
        proposals: .files)
    static let seed = CommandOption(
        name: "seed", argument: "N", help: "random seed (default 0); the same seed gives identical output")
    static let lenient = CommandOption(name: "lenient", help: "skip and count invalid lines of recordings")
    static let method = CommandOption(
        name: "method", argument: "METHOD",
        help: PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ") + " (default particle)",
        proposals: .words(of: PositioningMethod.self))
    /// Layouts of beacons beyond the built-in ones.
    static let beaconLayout = CommandOption(
        name: "beacon-layout", argument: "LAYOUT",
        help: "also decode beacons of this layout, such as m:2-3=beac,i:4-19,p:24-24")
}

extension ParsedArguments {
    var strictness: RecordingReader.Strictness { has("lenient") ? .lenient : .strict }

    /// The number of the venue that a command writes: `--id`; nil without it.
    func venueID() throws(UsageError) -> VenueID? {
        let exact = 9_007_199_254_740_991
        return has("id") ? VenueID(rawValue: try number("id", in: -exact...exact, else: 0)) : nil
    }

    func seed() throws(UsageError) -> UInt64 { try number("seed", in: 0...UInt64.max, else: 0) }

    /// The folder for saved state: `--state-directory`, systemd's state directory, or the user's state folder.
    ///
    /// - Throws: `UsageError` if the option's value is empty.
    func stateDirectory() throws(UsageError) -> String {
        if let folder = value("state-directory") {
            guard folder.isEmpty else { return folder }
            throw UsageError(message: "--state-directory must be a folder path, not ''", command: syntax.name)
        }
        let environment = ProcessInfo.processInfo.environment
        // A unit with several state directories lists them all; the first one is used.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/indoorloc" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/indoorloc"
    }

    /// The layouts given by `--beacon-layout`, which may be repeated.
    func beaconLayouts() throws(UsageError) -> [BeaconLayout] {
        var layouts: [BeaconLayout] = []
        for text in values["beacon-layout"] ?? [] {
            do { layouts.append(try BeaconLayout(text)) } catch {
                throw UsageError(message: "--beacon-layout: \(error)", command: syntax.name)
            }
        }
        return layouts
    }
}

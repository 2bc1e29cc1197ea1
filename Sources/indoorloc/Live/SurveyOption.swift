import Foundation
import IndoorLocalization
import LiveSurvey
import VenuePackets

/// The option `--survey` of the commands whose page records surveys.
struct SurveyOption: Sendable {
    /// Returns the option for a carrier, such as `a tag`.
    static func option(with carrier: String) -> CommandOption {
        CommandOption(
            name: "survey", argument: "DIR",
            help: "let people mark on the page where they stand with \(carrier), and store each walk in this folder")
    }

    /// The priority of the threads that learn radio maps: the lowest one, because locating is more important.
    ///
    /// Beside programs that use all processors, such threads get almost no time. A test on a busy machine that waits for a
    /// map sets the environment variable to `usual`.
    static var learningPriority: BackgroundThread.Priority {
        ProcessInfo.processInfo.environment["INDOORLOC_LEARNING_PRIORITY"] == "usual" ? .usual : .lowest
    }

    /// The folder of the recordings.
    let folder: String

    /// Reads the option; returns nil without it.
    ///
    /// - Parameters:
    ///   - isPossible: whether the other options permit surveys.
    ///   - requirement: what the option requires, such as `--http, and a venue`.
    init?(_ arguments: ParsedArguments, if isPossible: Bool, requirement: String) throws(UsageError) {
        guard let folder = try arguments.folder("survey").map(ParsedArguments.path) else { return nil }
        guard isPossible else {
            throw UsageError(message: "--survey requires \(requirement)", command: arguments.syntax.name)
        }
        self.folder = folder
    }

    /// Creates the folder if it is missing.
    ///
    /// - Throws: an error if walks can't be recorded in it, so that nobody walks in vain.
    func createFolder() throws(CommandError) { try ParsedArguments.createFolder(folder, of: "survey") }

    /// Returns where the editions of a packet with the radio map of a survey are written.
    ///
    /// - Parameters:
    ///   - isFromServer: whether the packet comes from a venue server.
    ///   - hasRadioMap: whether `--radio-map` replaces the packet's own radio map.
    ///   - command: the name of the command.
    static func place(
        of packet: VenuePacket, isFromServer: Bool, hasRadioMap: Bool, command: String
    ) -> SurveyMapDesk.Place {
        let remedy = "Learn the map with 'indoorloc survey', and"
        if isFromServer { return .none("It comes from a venue server. \(remedy) publish the packet with it.") }
        if hasRadioMap { return .none("--radio-map replaces its own. Start '\(command)' without this option.") }
        switch packet.storage {
        case .folder(let path): return .folder(path)
        case .zip: return .none("It is a zip file. Unzip it into a folder, and give that folder to --venue.")
        }
    }
}

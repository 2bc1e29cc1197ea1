import Glibc
import IndoorLocalization
import TagTracking
import TagTrackingService
import VenuePackets

/// The trained rooms of a fleet on one machine without a floor plan.
struct TrackRooms: Sendable {
    /// The option.
    static let option = CommandOption(
        name: "rooms", argument: "FILE",
        help: "track the trained rooms of this file (.json) instead of a venue; the page trains rooms and creates it")

    /// The options of a floor plan and of positions on it.
    private static let others =
        ["venue", "radio-map"] + VenueServerOptions.packetOptions.map(\.name) + ["unknown-memory"]

    /// Returns the path of the file; nil for a venue.
    ///
    /// - Throws: `UsageError` for an empty path, or options that have no effect without a floor plan.
    static func path(_ arguments: ParsedArguments) throws(UsageError) -> String? {
        guard let path = arguments.value(option.name) else { return nil }
        guard !path.isEmpty else {
            throw UsageError(message: "--rooms must be a file path, not ''", command: arguments.syntax.name)
        }
        // A demonstration uses the seed for its tags.
        let seed = arguments.has("demo") ? [] : ["seed"]
        if let other = (others + seed).first(where: arguments.has) {
            throw UsageError(
                message: "--rooms has no floor plan: it can't be combined with --\(other)",
                command: arguments.syntax.name)
        }
        return ParsedArguments.path(path)
    }

    /// The path of the file.
    let path: String
    /// The training at the start; empty if there is no file yet.
    let training: RoomTrainingSet

    /// Reads the file.
    ///
    /// - Parameter canChange: whether rooms can be trained, so that the file is written.
    /// - Throws: `TrainingFileError` if the file is there and can't be read, or `CommandError` if its folder is missing, or
    ///   a training couldn't be written.
    init(_ path: String, canChange: Bool) throws {
        self.path = path
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, F_OK) == 0 else {
            throw CommandError(
                description: "--rooms \(path): its folder doesn't exist; create it, or give another file")
        }
        // A change replaces the file, which need not be writable itself. Changes come from the page.
        guard !canChange || access(folder, W_OK | X_OK) == 0 else {
            throw CommandError(
                description:
                    "--rooms \(path): a training couldn't be written: \(String(cString: strerror(errno))); permit "
                    + "writing its folder, or give another file")
        }
        training = access(path, F_OK) == 0 ? try RoomTrainingFile.read(path) : RoomTrainingSet()
    }

    /// The venue that stands for the rooms: it has neither maps nor receivers.
    var venue: Venue { TagRoom.venue(training.rooms.keys) }

    /// Returns the file, which is read again after a change.
    func file() -> ReloadedFile<RoomTrainingSet> {
        ReloadedFile(path, option: Self.option.name, noun: "training", training) { [path] in
            try RoomTrainingFile.read(path)
        } count: {
            $0.rooms.count.counting("room")
        }
    }
}

extension ReloadedFile<RoomTrainingSet> {
    /// Passes a training that was read again to the engine, until the task is cancelled.
    func pass(to engine: FleetEngine) async {
        for await _ in changes {
            guard let training = take() else { continue }
            _ = try? await engine.changeRooms { rooms in
                if rooms.training != training { rooms.use(training) }
            }
        }
    }
}

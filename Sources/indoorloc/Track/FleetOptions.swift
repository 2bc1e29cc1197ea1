import Glibc
import IndoorLocalization
import LiveSurvey
import TagTracking
import TagTrackingService
import VenuePackets

/// The options of the commands that locate tags, and their values: the venue, the known tags, and the rule for other
/// tags.
package struct FleetOptions: Sendable {
    /// The options of the venue and its server.
    package static let venueOptions = [CommandOption.venue, .radioMap] + VenueServerOptions.packetOptions
    /// The options of the known tags, and of the rule for other tags.
    package static let registerOptions = [
        CommandOption(name: "tags", argument: "FILE", help: "register of the known tags: .csv or .json"),
        CommandOption(
            name: "unknown", argument: "RULE",
            help: "tags outside the register that are located: all, none, or UUIDs of beacons with commas (default all)"
        ),
    ]
    /// The options of the tags.
    package static let tagOptions =
        registerOptions + [
            CommandOption(
                name: "class", argument: "NAME",
                help:
                    "class of tags without one in the register: standard, or light for less memory (default standard)",
                proposals: .words(["standard", "light"])),
            CommandOption(
                name: "unknown-memory", argument: "MB",
                help: "memory for the positions of tags outside the register, in megabytes (default "
                    + "\(FleetSettings().unknownTagMemory >> 20)); those not heard for the longest time are given up"),
        ]

    /// The settings of the fleet.
    package let settings: FleetSettings
    /// The path of the register; nil if none was given.
    package let tags: String?
    /// Whether the command has the option of a venue.
    let hasVenue: Bool
    private let venue: String
    private let radioMap: String?
    private let server: VenueServerOptions

    /// Reads the options.
    ///
    /// - Parameter hasVenue: whether the command has the options of a venue, which is required then.
    /// - Throws: `UsageError` for a missing venue, or an invalid rule or class.
    package init(_ arguments: ParsedArguments, hasVenue: Bool = true) throws {
        self.hasVenue = hasVenue
        venue = hasVenue ? try arguments.requiredInput("venue") : ""
        radioMap = try arguments.input("radio-map")
        server = try VenueServerOptions(arguments, isRequired: false)
        tags = try arguments.input("tags")
        var settings = FleetSettings()
        settings.unknownTagMoments = FleetSettings.standardMoments
        if let size = arguments.value("unknown-memory") {
            guard let megabytes = Int(size), (1...1_000_000).contains(megabytes) else {
                throw UsageError(
                    message: "--unknown-memory must be a number of megabytes from 1 to 1000000, not '\(size)'",
                    command: arguments.syntax.name)
            }
            settings.unknownTagMemory = megabytes << 20
        }
        if let rule = arguments.value("unknown") { settings.unknownTags = try Self.rule(rule, arguments) }
        if let name = arguments.value("class") {
            guard settings.classes[name] != nil else {
                let names = settings.classes.keys.sorted().joined(separator: " or ")
                throw UsageError(message: "--class must be \(names), not '\(name)'", command: arguments.syntax.name)
            }
            settings.defaultClass = name
        }
        self.settings = settings
    }

    private static func rule(
        _ text: String, _ arguments: ParsedArguments
    ) throws(UsageError) -> FleetSettings.UnknownTags {
        switch text {
        case "all": return .all
        case "none": return .none
        default:
            var uuids: Set<BeaconUUID> = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let uuid = BeaconUUID(String(part)) else {
                    throw UsageError(
                        message: "--unknown must be all, none, or UUIDs with commas, not '\(text)'",
                        command: arguments.syntax.name)
                }
                uuids.insert(uuid)
            }
            return .beacons(uuids)
        }
    }

    /// Reads the venue's packet.
    ///
    /// - Throws: the error of the packet, or `CommandError` if the venue has no receivers.
    package func packet() async throws -> VenuePacket {
        let packet = try await server.packet(venue, radioMap: radioMap, isLive: true)
        guard !packet.venue.receivers.isEmpty else {
            throw CommandError(
                description: "\(venue): the venue has no receivers; add the gateways to its beacons, with "
                    + "\"role\": \"receiver\" and the \"id\" that each reports")
        }
        return packet
    }

    /// Returns where the editions of the venue's packet with the radio map of a survey are written.
    ///
    /// - Parameter packet: the packet; nil for a demonstration.
    func surveyPlace(of packet: VenuePacket?) -> SurveyMapDesk.Place {
        guard let packet else { return .none("The demonstration has no packet. Give one with --venue.") }
        return SurveyOption.place(
            of: packet, isFromServer: server.isGiven, hasRadioMap: radioMap != nil, command: "track")
    }

    /// Returns the register that is read again when its file changes; nil if none was given.
    ///
    /// - Parameter register: the register at the start.
    package func registerFile(_ register: TagRegister) -> ReloadedFile<TagRegister>? {
        tags.map { path in
            ReloadedFile(path, option: "tags", noun: "register", register) {
                try self.register()
            } count: {
                $0.entries.count.counting("tag")
            }
        }
    }

    /// Reads the register of the known tags; an empty one if none was given.
    ///
    /// - Throws: `CommandError` if the file can't be read or has an invalid line.
    package func register() throws -> TagRegister {
        guard let tags else { return TagRegister() }
        let bytes: [UInt8]
        do { bytes = try BoundedFile.read(tags, limit: InputLimits.standard.venueFile) } catch {
            throw CommandError(description: "--tags \(tags): \(error)")
        }
        do throws(TagFileError) {
            let classes = Set(settings.classes.keys)
            let isJSON = bytes.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "[")
            return isJSON
                ? try TagRegister(json: bytes, classes: classes) : try TagRegister(csv: bytes, classes: classes)
        } catch {
            throw CommandError(description: "--tags \(tags): \(error)")
        }
    }
}

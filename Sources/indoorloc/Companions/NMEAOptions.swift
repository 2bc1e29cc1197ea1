import GPSDReceiving
import IndoorLocalization
import NMEASending

/// The options of the commands that send their positions as NMEA 0183, and their values.
struct NMEAOptions: Sendable {
    static let options = [
        CommandOption(
            name: "nmea", argument: "ADDRESS",
            help:
                "send positions as NMEA 0183: udp://HOST:PORT, tcp[-listen]://HOST:PORT, unix-listen://PATH, or a file")
    ]

    /// The maximum number of destinations.
    private static let largestCount = 16

    private let destinations: [NMEADestination]
    private let files: [OutputFile]

    /// Reads the options of a command; returns nil without `--nmea`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let texts = arguments.values["nmea"] else { return nil }
        let command = arguments.syntax.name
        guard texts.count <= Self.largestCount else {
            throw UsageError(message: "--nmea can be given \(Self.largestCount) times at most", command: command)
        }
        var destinations: [NMEADestination] = []
        for text in texts {
            do throws(NMEAError) { destinations.append(try NMEADestination(text)) } catch {
                throw UsageError(message: "--nmea: \(error)", command: command)
            }
        }
        self.destinations = destinations
        let inputs = arguments.inputs(except: ["nmea"])
        files = destinations.compactMap { destination in
            guard case .file(let path) = destination else { return nil }
            return OutputFile(path: path, existing: .extended, inputs: inputs, isPrivate: true)
        }
    }

    /// Checks before the session starts that positions in the venues have coordinates, that the files can be written,
    /// and that gpsd doesn't read what is sent.
    ///
    /// - Parameters:
    ///   - venues: the venues of the session; empty if they are unknown.
    ///   - gpsd: the session's satellite receiver; nil for none.
    /// - Throws: `CommandError` for a venue without a georeference, `OutputFile.Failure`, or `GPSDError.ownPositions`.
    func check(_ venues: [Venue], _ gpsd: GPSDSource?) throws {
        for file in files { try file.check() }
        for venue in venues {
            do throws(NMEAError) { try venue.checkCoordinates() } catch {
                throw CommandError(description: "--nmea: '\(venue.name)': \(error)")
            }
        }
        guard var gpsd else { return }
        gpsd.ownDevices = destinations.compactMap(\.gpsdDevice)
        try gpsd.checkDevices()
    }

    /// Begins to listen at the destinations that are servers.
    func companion() throws(NMEAError) -> NMEACompanion { try NMEACompanion(destinations) }
}

extension NMEACompanion {
    /// Returns a receiver that discards the positions that this session sends.
    func separated(from gpsd: GPSDSource) -> EchoFreeSource {
        var gpsd = gpsd
        gpsd.ownDevices = destinations.compactMap(\.gpsdDevice)
        return EchoFreeSource(source: gpsd, echo: echo)
    }
}

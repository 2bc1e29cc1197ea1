import Foundation
import IndoorLocalization
import VenuePackets

extension CommandOption {
    static let live = CommandOption(
        name: "live", argument: "ROOM", help: "train this room from the radio, until Ctrl-C or for --seconds"
    )
    static let pocket = CommandOption(name: "pocket", help: "with --live: the device is carried in a pocket or a bag")
}

/// The training of one room from live readings.
struct LiveTraining: Sendable {
    static let options: [CommandOption] = [.live, .pocket] + HeardSource.options.filter { $0.name != "lenient" }

    private let room: String
    private let placement: RoomFingerprint.Placement
    private let source: HeardSource

    /// Reads the options; returns nil without `--live`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let room = arguments.value("live") else {
            for option in Self.options where arguments.has(option.name) {
                throw UsageError(message: "--\(option.name) requires --live", command: arguments.syntax.name)
            }
            return nil
        }
        self.room = room
        placement = arguments.has("pocket") ? .pocket : .hand
        source = try HeardSource(arguments)
    }

    /// Collects one sample per second until the source ends, the time limit is reached or a signal interrupts it.
    ///
    /// - Parameter uuids: the UUIDs of the beacons to use.
    func train(with uuids: Set<BeaconUUID>) async throws -> RoomTrainingSet {
        var listener = Listener(room: room, placement: placement)
        try await source.listen(ScannerSettings(), &listener) { machine in
            for uuid in uuids.sorted(by: { $0.description < $1.description }) {
                _ = machine.regions.track(BeaconRegion(uuid: uuid), id: uuid.description)
            }
        }
        guard let fingerprint = listener.finish(), !fingerprint.samples.isEmpty else {
            let beacons = uuids.map(\.description).sorted().joined(separator: ", ")
            throw CommandError(description: "no beacon of \(beacons) was received in \(room); nothing was trained")
        }
        return RoomTrainingSet(rooms: [room: fingerprint])
    }

    /// Collects the samples and shows progress.
    private struct Listener: ScannerListener {
        let room: String
        let placement: RoomFingerprint.Placement
        private var trainer: RoomTrainer?
        private let progress = ProgressLine()

        init(room: String, placement: RoomFingerprint.Placement) {
            self.room = room
            self.placement = placement
        }

        mutating func begin(unixTime: Double?) {
            let start = unixTime ?? 0
            trainer = RoomTrainer(room: room, regionID: nil, placement: placement) { start + $0.seconds }
        }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            guard case .emitRanging(let ranging) = directive else { return try reportTrouble(directive) }
            guard trainer?.observe(ranging) == true, let step = trainer?.progress else { return }
            progress.show(
                "\(room): \(step.sampleCount) of \(FingerprintQuality.neededSamples) samples, "
                    + "\(step.beacons.count) beacons")
        }

        mutating func write() throws -> Bool { true }

        mutating func end() throws { progress.clear() }

        mutating func finish() -> RoomFingerprint? { trainer?.finish() }
    }
}

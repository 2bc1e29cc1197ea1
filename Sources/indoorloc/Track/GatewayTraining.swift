import Foundation
import IndoorLocalization
import MQTTSharing
import TagTracking
import TagTrackingService

extension CommandOption {
    /// The topics of the gateways.
    package static let topic = CommandOption(
        name: "topic", argument: "FILTER[=FORMAT]",
        help: "topics of the gateways, such as minew/office=minewLong (default: the topics of known gateways)")
}

extension ParsedArguments {
    /// The topic filters of the gateways.
    ///
    /// - Throws: `UsageError` for an invalid filter or format.
    package func gatewayFilters() throws(UsageError) -> [GatewayFilter] {
        guard let texts = values["topic"] else { return GatewayFilter.standard }
        var filters: [GatewayFilter] = []
        for text in texts {
            do throws(GatewayFilterError) { filters.append(try GatewayFilter(text: text)) } catch {
                throw UsageError(message: "--topic: \(error)", command: syntax.name)
            }
        }
        return filters
    }
}

/// The training of one room with a tag, from the messages of gateways on a broker.
struct GatewayTraining: Sendable {
    /// The options beside those of a ``LiveTraining``.
    static let options =
        [
            CommandOption(name: "tag", argument: "KEY", help: "with --live and --broker: the tag that is in the room")
        ] + BrokerOptions.options + [.topic]

    private let tag: TagKey
    private let room: String
    private let broker: MQTTBroker
    private let filters: [GatewayFilter]
    private let limit: Duration?

    /// Reads the options; returns nil without `--tag`.
    init?(_ arguments: ParsedArguments) throws {
        let name = arguments.syntax.name
        guard let text = arguments.value("tag") else {
            guard let option = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(option) requires --tag", command: name)
        }
        guard let tag = TagNaming.key(of: text) ?? TagKey(text) else {
            throw UsageError(message: "--tag must be the key of a tag, not ''", command: name)
        }
        guard let room = arguments.value("live") else {
            throw UsageError(message: "--tag requires --live; for a recording, use 'convert --tag'", command: name)
        }
        let radio = ["adapter", "route", "replay", "pocket", "uuid"]
        if let option = radio.first(where: arguments.has) {
            throw UsageError(message: "--\(option) has no effect with --tag", command: name)
        }
        (self.tag, self.room) = (tag.canonical, room)
        broker = try BrokerOptions(arguments).broker
        filters = try arguments.gatewayFilters()
        limit = try arguments.limit()
    }

    /// Collects one sample per second until the time limit is reached or a signal interrupts it.
    ///
    /// - Throws: `CommandError` if no gateway has heard the tag, or for an invalid name of the room.
    func train() async throws -> RoomTrainingSet {
        let register = TagRegister([TagRegister.Entry(key: tag)])
        var settings = FleetSettings()
        settings.unknownTags = .none
        var intake = TagIntake(register: register, settings: settings, formats: filters.formats)
        var machine = RoomFleetMachine(training: RoomTrainingSet(), settings: settings, register: register)
        let clock = TrackRun.SharedClock()
        let queue = MessageQueue()
        let input = FleetInput(broker, filters: filters.map(\.filter)) { _ in clock.now() }
        let work = LiveWork<FleetInput.Event>(tick: .milliseconds(200), limit: limit) { give in
            await input.run { event in
                if case .message(let message) = event { queue.append(message) } else { give(event) }
            }
        }
        let progress = ProgressLine()
        var failure: (any Error)?
        do {
            try await work.follow { occurrence in
                if case .element(.disconnected(let error, _)) = occurrence { StandardError.line("\(error)", .warning) }
                let now = clock.now()
                for message in queue.drain().messages {
                    for reading in intake.readings(of: message) where reading.tag == tag { machine.observe(reading) }
                }
                _ = machine.advance(to: now)
                if machine.progress.isEmpty, !machine.knownTags.isEmpty {
                    try machine.startTraining(of: room, with: tag, at: now)
                }
                if let step = machine.progress.first {
                    progress.show(
                        "\(room): \(step.samples) of \(RoomFleetMachine.neededSamples) samples, "
                            + step.gateways.counting("gateway"))
                }
                return true
            }
        } catch { failure = error }
        await work.stop()
        progress.clear()
        if let failure { throw (failure as? RoomTrainingProblem).map { CommandError(description: "\($0)") } ?? failure }
        do throws(RoomTrainingProblem) { try machine.finishTraining(with: tag) } catch {
            throw CommandError(
                description: "no gateway of \(broker.host) has reported the tag '\(tag)'; nothing was trained")
        }
        return machine.training
    }
}

import IndoorVocabulary
import TextFormats

/// A state machine that keeps one powered adapter scanning while other programs may use it too. It decides which
/// commands to send, and when.
///
/// The program that started the scan last owns it. While another program's scan runs, the machine receives its reports
/// and disables its duplicate filter; when that scan ends, the machine starts its own. The machine can distinguish its
/// own commands from those of other programs: the kernel passes a raw socket all commands except its own, and sends the
/// adapter one command at a time.
package struct HCILinkMachine: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// The socket is open.
        case opened
        /// Another program sent a command to the adapter.
        case command(HCICommand)
        /// The adapter answered a command, either our own or another program's.
        case answer(HCIAnswer)
        /// The kernel rejected a command with this error number.
        case notSent(Int32)
        /// Reports have arrived since the last tick.
        case heard
        /// The deadline has passed.
        case tick
    }

    package enum Directive: Sendable, Equatable {
        case send(HCICommand)
        /// Report the new status of the adapter, with a detail for people.
        case report(RadioEvent.Status, detail: String?)
    }

    package enum Phase: Sendable, Equatable {
        /// The socket is not open yet.
        case closed
        /// The machine has asked for the adapter's supported commands.
        case probing
        /// The machine has sent its scan parameters.
        case settingParameters
        /// The machine has sent the command that starts its own scan.
        case enabling
        /// The machine's own scan runs.
        case scanning
        /// Another program's scan runs.
        case sharing
        /// The machine waits, because a command failed or another program is about to start a scan.
        case resting
    }

    package let parameters: HCIScanParameters
    package private(set) var phase = Phase.closed
    /// The instant at which the machine needs a `.tick`: to detect a missing answer, to end a rest, or to check whether
    /// another program still scans.
    package private(set) var deadline: Instant?
    /// Whether the running scan is the machine's own, which it must stop.
    package private(set) var ownsScan = false
    /// Whether another program has sent a scan command, or asked for the supported commands, since the socket was
    /// opened.
    package private(set) var hasSeenOtherScanners = false
    /// The command set in use.
    package private(set) var commands = HCIScanCommands.legacy
    /// Whether the adapter has the extended commands; nil until the adapter answers.
    private(set) var hasExtended: Bool?
    /// The status with which the adapter refused one command set, while the machine tries the other.
    private var refusal: UInt8?
    /// Another program's command that the adapter has not answered yet.
    private var foreign: HCICommand?
    /// Whether the machine disabled the duplicate filter of another program's scan, and must enable it again.
    private var hasDisabledFilter = false
    /// Whether the adapter has not answered the command that disables the filter yet.
    private var isDisablingFilter = false
    /// Whether another program's scan reports only the devices on the accept list.
    private var acceptListOnly = false
    /// The known limits of the other program's scan.
    private var sharedDetail: String?
    /// Whether reports have arrived since the last check of the scan.
    private var hasHeard = false
    /// The number of consecutive failures.
    private var failures = 0

    /// Creates a machine whose socket is not open yet.
    package init(parameters: HCIScanParameters) { self.parameters = parameters }

    /// Handles an event and returns the directives to perform, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        guard phase != .closed || event == .opened else { return [] }
        switch event {
        case .opened: return advance(at: now)
        case .command(let command): return watch(command, at: now)
        case .answer(let answer): return receive(answer, at: now)
        case .notSent(let number):
            if phase == .enabling { ownsScan = false }
            return fail("sending a command failed: " + BluetoothError.text(ofSystemError: number), at: now)
        case .heard:
            hasHeard = true
            return []
        case .tick: return wake(at: now)
        }
    }

    /// Returns the commands to send before the socket closes.
    ///
    /// They stop the machine's own scan, and restore the duplicate filter of another program's scan.
    package mutating func close() -> [HCICommand] {
        var last: [HCICommand] = []
        if ownsScan { last = [commands.enable(false)] }
        if hasDisabledFilter { last = [commands.enable(true, filtersDuplicates: true)] }
        ownsScan = false
        hasDisabledFilter = false
        enter(.closed, until: nil)
        return last
    }

    private mutating func enter(_ phase: Phase, until deadline: Instant?) {
        self.phase = phase
        self.deadline = deadline
    }
}

// MARK: - Times

extension HCILinkMachine {
    /// The longest time that the adapter may take to answer, equal to the kernel's own limit (HCI_CMD_TIMEOUT).
    package static let answerLimit = Duration.seconds(2)
    /// How long the machine waits after another program has stopped a scan, so that the program can start the next.
    ///
    /// The kernel stops a running scan, sets parameters and starts the scan again, each step a few milliseconds after
    /// the last. If the machine sent a command in between, the adapter would refuse the kernel's parameters, and the
    /// other program's discovery would fail.
    package static let settlingTime = Duration.milliseconds(250)
    /// The interval between checks whether another program's scan still runs, in case the machine missed its end.
    package static let sharingCheck = Duration.seconds(10)
    /// How long the machine's own scan may deliver no report before the machine restarts it.
    ///
    /// Some adapters stop reporting without an error; habluetooth restarts after 90 s without an advertisement.
    package static let silenceLimit = Duration.seconds(60)
    /// The rest after the first failure. It doubles after each further failure.
    package static let firstRest = Duration.milliseconds(500)
    package static let longestRest = Duration.seconds(30)
}

// MARK: - Own commands

extension HCILinkMachine {
    /// Performs the next step towards the machine's own scan.
    private mutating func advance(at now: Instant) -> [Directive] {
        guard hasExtended != nil else {
            enter(.probing, until: now.advanced(by: Self.answerLimit))
            return [.send(HCICommand(opcode: HCICommand.Opcode.readSupportedCommands, parameters: []))]
        }
        refusal = nil
        return setParameters(at: now)
    }

    private mutating func setParameters(at now: Instant) -> [Directive] {
        enter(.settingParameters, until: now.advanced(by: Self.answerLimit))
        return [.send(commands.parameters(parameters))]
    }

    private mutating func enable(at now: Instant) -> [Directive] {
        ownsScan = true
        enter(.enabling, until: now.advanced(by: Self.answerLimit))
        return [.send(commands.enable(true))]
    }

    /// Handles an answer. The kernel sends one command at a time, so the answer belongs to the pending command.
    private mutating func receive(_ answer: HCIAnswer, at now: Instant) -> [Directive] {
        if let command = foreign, command.opcode == answer.opcode {
            foreign = nil
            guard answer.status == HCIAnswer.Status.success, let meaning = HCIScanCommand(command) else { return [] }
            return follow(meaning, at: now)
        }
        switch (phase, answer.opcode) {
        case (.probing, HCICommand.Opcode.readSupportedCommands):
            hasExtended = Self.hasExtended(answer)
            commands = hasExtended == true ? .extended : .legacy
            return advance(at: now)
        case (_, commands.enableOpcode) where isDisablingFilter: return handleFilterAnswer(answer.status)
        case (.settingParameters, commands.parametersOpcode): return handleParametersAnswer(answer.status, at: now)
        // A late answer too means that the scan runs.
        case (_, commands.enableOpcode) where ownsScan && phase != .scanning:
            return handleEnableAnswer(answer.status, at: now)
        default: return []
        }
    }

    /// Returns whether the kernel uses the extended commands, which must not be mixed with the legacy commands.
    ///
    /// Source: Linux, hci_core.h, use_ext_scan; the bits are those of the specification, Vol 4, Part E, 6.27.
    private static func hasExtended(_ answer: HCIAnswer) -> Bool {
        let setExtendedParametersAndEnable: UInt8 = 0x60
        guard answer.status == HCIAnswer.Status.success, answer.parameters.count > 37 else { return false }
        return answer.parameters[37] & setExtendedParametersAndEnable == setExtendedParametersAndEnable
    }

    private mutating func handleParametersAnswer(_ status: UInt8, at now: Instant) -> [Directive] {
        switch status {
        case HCIAnswer.Status.success: return enable(at: now)
        // The machine's own scan still runs: the answer was late, or another program failed to stop the scan.
        case HCIAnswer.Status.disallowed where ownsScan: return enable(at: now)
        case HCIAnswer.Status.disallowed, HCIAnswer.Status.unknownCommand: return handleRefusal(status, at: now)
        default: return fail("the adapter refused the scan parameters with error \(Self.hexadecimal(status))", at: now)
        }
    }

    /// Handles a refusal. The adapter refuses in the same way if another scan runs and if the command set is wrong.
    private mutating func handleRefusal(_ status: UInt8, at now: Instant) -> [Directive] {
        guard hasExtended == true else {
            guard status == HCIAnswer.Status.disallowed else {
                return fail("the adapter has no LE scan commands", at: now)
            }
            return share(detail: sharedDetail ?? Self.unknownDetail, at: now)
        }
        commands = commands.other
        guard let first = refusal else {
            refusal = status
            return setParameters(at: now)
        }
        guard [first, status].contains(HCIAnswer.Status.disallowed) else {
            return fail("the adapter has no LE scan commands", at: now)
        }
        return share(detail: sharedDetail ?? Self.unknownDetail, at: now)
    }

    private mutating func handleEnableAnswer(_ status: UInt8, at now: Instant) -> [Directive] {
        guard status == HCIAnswer.Status.success else {
            ownsScan = false
            return fail("the adapter refused the scan with error \(Self.hexadecimal(status))", at: now)
        }
        failures = 0
        sharedDetail = nil
        enter(.scanning, until: now.advanced(by: Self.silenceLimit))
        return [.report(.scanning, detail: nil)]
    }

    private mutating func fail(_ reason: String, at now: Instant) -> [Directive] {
        failures += 1
        foreign = nil
        let rest = Self.firstRest * (1 << min(failures - 1, 10))
        enter(.resting, until: now.advanced(by: min(rest, Self.longestRest)))
        return [.report(.refused, detail: reason)]
    }

    private mutating func wake(at now: Instant) -> [Directive] {
        guard let deadline, now >= deadline else { return [] }
        switch phase {
        case .probing, .settingParameters, .enabling:
            return fail("the adapter did not answer a command within \(Int(Self.answerLimit.seconds)) s", at: now)
        case .resting, .sharing: return advance(at: now)
        case .scanning: return checkScan(at: now)
        case .closed: return []
        }
    }

    /// Restarts a scan that was silent for a long time. The machine doesn't report this, because perhaps no advertiser
    /// is in range.
    private mutating func checkScan(at now: Instant) -> [Directive] {
        guard !hasHeard else {
            hasHeard = false
            enter(.scanning, until: now.advanced(by: Self.silenceLimit))
            return []
        }
        ownsScan = false
        rest(at: now)
        return [.send(commands.enable(false))]
    }

    private static func hexadecimal(_ status: UInt8) -> String {
        "0x" + HexDigits.text(status, 2, uppercase: true)
    }
}

// MARK: - Commands of others

extension HCILinkMachine {
    /// Observes a command that another program sends.
    private mutating func watch(_ command: HCICommand, at now: Instant) -> [Directive] {
        foreign = command
        let isScanner = HCIScanCommand(command) != nil || command.opcode == HCICommand.Opcode.readSupportedCommands
        if isScanner { hasSeenOtherScanners = true }
        // The program is about to start a scan: don't interfere.
        if phase == .resting, HCIScanCommand(command) != nil { rest(at: now) }
        return []
    }

    /// Follows a command of another program that the adapter has performed.
    private mutating func follow(_ command: HCIScanCommand, at now: Instant) -> [Directive] {
        switch command {
        case .parameters(let set, let acceptListOnly):
            use(set)
            self.acceptListOnly = acceptListOnly
            return []
        case .start(let set, let filtersDuplicates):
            use(set)
            // The adapter performs the machine's own pending command after the other program's.
            guard phase != .enabling else { return [] }
            ownsScan = false
            let limits = share(detail: Self.detail(filtersDuplicates, acceptListOnly), at: now)
            // With an accept list, other devices aren't reported at all, so disabling the filter gains nothing.
            guard filtersDuplicates, !acceptListOnly else { return limits }
            hasDisabledFilter = true
            isDisablingFilter = true
            return [.send(commands.enable(true))]
        case .stop(let set):
            use(set)
            forgetShared()
            guard phase != .settingParameters, phase != .enabling, phase != .probing else { return [] }
            ownsScan = false
            rest(at: now)
            return []
        case .reset:
            forgetShared()
            ownsScan = false
            acceptListOnly = false
            rest(at: now)
            return []
        }
    }

    /// Clears the state of another program's scan, which has ended.
    private mutating func forgetShared() {
        sharedDetail = nil
        hasDisabledFilter = false
    }

    /// Handles the answer to the command that disables the duplicate filter of another program's scan.
    private mutating func handleFilterAnswer(_ status: UInt8) -> [Directive] {
        isDisablingFilter = false
        guard status == HCIAnswer.Status.success else {
            hasDisabledFilter = false
            return phase == .sharing ? [.report(.sharing, detail: sharedDetail)] : []
        }
        // The program ended its scan in the meantime, and disabling the filter started it again.
        guard hasDisabledFilter else { return [.send(commands.enable(false))] }
        sharedDetail = Self.disabledFilterDetail
        return phase == .sharing ? [.report(.sharing, detail: sharedDetail)] : []
    }

    /// Uses the command set that another program uses, because that set works.
    private mutating func use(_ set: HCIScanCommands) {
        guard phase != .settingParameters, phase != .enabling else { return }
        commands = set
    }

    private mutating func rest(at now: Instant) {
        enter(.resting, until: now.advanced(by: Self.settlingTime))
    }

    private mutating func share(detail: String?, at now: Instant) -> [Directive] {
        failures = 0
        sharedDetail = detail
        enter(.sharing, until: now.advanced(by: Self.sharingCheck))
        return [.report(.sharing, detail: detail)]
    }

    /// The detail of a scan that ran before this one, with unknown settings.
    package static let unknownDetail = "another program's scan was already running and may filter duplicates"
    package static let disabledFilterDetail = "the duplicate filter of another program's scan is disabled"

    private static func detail(_ filtersDuplicates: Bool, _ acceptListOnly: Bool) -> String? {
        var limits: [String] = []
        if filtersDuplicates {
            limits.append("another program's scan filters duplicates, so most repeated reports are missing")
        }
        if acceptListOnly { limits.append("another program's scan reports only devices on its accept list") }
        return limits.isEmpty ? nil : limits.joined(separator: ", and ")
    }
}

/// The scan parameters of an adapter.
package struct HCIScanParameters: Hashable, Sendable {
    /// Whether the adapter requests scan responses.
    package var isActive: Bool
    /// The time from the start of one window to the start of the next, in units of 0.625 ms.
    package var interval: UInt16
    /// The time that the adapter listens in each interval, in units of 0.625 ms; at most the interval.
    package var window: UInt16
    /// Whether the adapter has no public address, and requests scan responses from a random one.
    package var usesRandomAddress = false

    /// The range that both command sets allow, in units of 0.625 ms: 2.5 ms to 10.24 s.
    package static let range: ClosedRange<UInt16> = 0x0004...0x4000

    /// Creates parameters from durations, which are rounded to units and clamped to the range.
    package init(isActive: Bool, window: Duration, interval: Duration) {
        self.isActive = isActive
        self.interval = Self.units(interval)
        self.window = min(Self.units(window), self.interval)
    }

    private static func units(_ duration: Duration) -> UInt16 {
        let units = duration / .microseconds(625)
        guard units > Double(range.lowerBound) else { return range.lowerBound }
        return units < Double(range.upperBound) ? UInt16(units.rounded()) : range.upperBound
    }
}

/// The two sets of scan commands. An adapter that has received a command of one set refuses those of the other.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 3.1.1.
package enum HCIScanCommands: Hashable, Sendable, CaseIterable {
    /// The commands of Bluetooth 4.
    case legacy
    /// The commands of Bluetooth 5, which also receive extended advertising.
    case extended

    package var other: HCIScanCommands { self == .legacy ? .extended : .legacy }

    package var parametersOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanParameters : HCICommand.Opcode.setExtendedScanParameters
    }

    package var enableOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanEnable : HCICommand.Opcode.setExtendedScanEnable
    }

    /// Returns the command that sets the scan parameters.
    ///
    /// The scan uses the LE 1M PHY only, because beacons advertise on it. The adapter also follows them to a secondary
    /// PHY.
    package func parameters(_ scan: HCIScanParameters) -> HCICommand {
        let type: [UInt8] = [scan.isActive ? 1 : 0]
        let times = HCICommand.bytes(scan.interval) + HCICommand.bytes(scan.window)
        let ownAddress: [UInt8] = [scan.usesRandomAddress ? 1 : 0]
        let everybody: [UInt8] = [0]
        switch self {
        case .legacy:
            return HCICommand(opcode: parametersOpcode, parameters: type + times + ownAddress + everybody)
        case .extended:
            let onlyPHY: [UInt8] = [1]
            return HCICommand(
                opcode: parametersOpcode, parameters: ownAddress + everybody + onlyPHY + type + times)
        }
    }

    /// Returns the command that starts or stops the scan. While a scan runs, starting it changes only the duplicate
    /// filter.
    package func enable(_ isOn: Bool, filtersDuplicates: Bool = false) -> HCICommand {
        let start: [UInt8] = [isOn ? 1 : 0, filtersDuplicates ? 1 : 0]
        // Neither a duration nor a period.
        return HCICommand(opcode: enableOpcode, parameters: self == .legacy ? start : start + [0, 0, 0, 0])
    }
}

/// The effect of another program's command on the scan.
package enum HCIScanCommand: Hashable, Sendable {
    /// Sets the scan parameters, and whether the adapter reports only devices on the accept list.
    case parameters(HCIScanCommands, acceptListOnly: Bool)
    /// Starts the scan.
    case start(HCIScanCommands, filtersDuplicates: Bool)
    /// Stops the scan.
    case stop(HCIScanCommands)
    /// Resets the adapter, which stops everything.
    case reset

    /// Decodes a command; returns nil if it doesn't affect the scan.
    package init?(_ command: HCICommand) {
        let parameters = command.parameters
        switch command.opcode {
        case HCICommand.Opcode.reset: self = .reset
        case HCICommand.Opcode.setScanParameters where parameters.count >= 7:
            self = .parameters(.legacy, acceptListOnly: parameters[6] & 1 == 1)
        case HCICommand.Opcode.setExtendedScanParameters where parameters.count >= 2:
            self = .parameters(.extended, acceptListOnly: parameters[1] & 1 == 1)
        case HCICommand.Opcode.setScanEnable where parameters.count >= 2:
            self = parameters[0] == 1 ? .start(.legacy, filtersDuplicates: parameters[1] != 0) : .stop(.legacy)
        case HCICommand.Opcode.setExtendedScanEnable where parameters.count >= 2:
            self = parameters[0] == 1 ? .start(.extended, filtersDuplicates: parameters[1] != 0) : .stop(.extended)
        default: return nil
        }
    }
}

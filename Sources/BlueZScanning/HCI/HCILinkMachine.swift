import IndoorVocabulary

/// Keeps one powered adapter scanning, beside whoever else uses it: decides which commands are sent, and when.
///
/// The last one who began the scan owns it. A scan of others is listened to, its duplicate filter lifted meanwhile; when
/// it ends, an own one begins. Commands of others are told from own ones because the kernel shows a raw socket all but its
/// own, and lets the adapter answer one at a time.
package struct HCILinkMachine: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// The socket is open.
        case opened
        /// Somebody else's command went to the adapter.
        case command(HCICommand)
        /// The adapter answered a command, own or not.
        case answer(HCIAnswer)
        /// The kernel did not take a command; the error number.
        case notSent(Int32)
        /// Reports came since the last tick.
        case heard
        /// The deadline has passed.
        case tick
    }

    package enum Directive: Sendable, Equatable {
        case send(HCICommand)
        /// What the adapter does from now on, and what a person would want to know of it.
        case report(RadioEvent.Status, detail: String?)
    }

    package enum Phase: Sendable, Equatable {
        /// The socket is not open yet.
        case closed
        /// Asks which commands the adapter has.
        case probing
        /// Own parameters are on their way.
        case settingParameters
        /// The own scan is about to begin.
        case enabling
        /// The own scan runs.
        case scanning
        /// A scan of others runs.
        case sharing
        /// Waits, because something failed or others are about to begin their scan.
        case resting
    }

    package let parameters: HCIScanParameters
    package private(set) var phase = Phase.closed
    /// When a `.tick` is wanted: an answer is late, a rest is over, or it is time to see whether others still scan.
    package private(set) var deadline: Instant?
    /// Whether the scan that may be running is the own one, and is to be ended.
    package private(set) var ownsScan = false
    /// Whether somebody else asked for a scan, or for the commands that scan, since the socket is open.
    package private(set) var hasSeenOtherScanners = false
    /// The commands in use.
    package private(set) var commands = HCIScanCommands.legacy
    /// Whether the adapter has the extended commands; nil as long as it was not asked.
    private(set) var hasExtended: Bool?
    /// Why one set of commands was refused, while the other is tried.
    private var refusal: UInt8?
    /// The command of others that the adapter has not answered yet.
    private var foreign: HCICommand?
    /// Whether the duplicate filter of a scan of others was lifted, and is to be set again.
    private var hasLiftedFilter = false
    /// Whether the adapter has yet to answer that.
    private var isLiftingFilter = false
    /// Whether others asked for reports of listed devices only.
    private var acceptListOnly = false
    /// What is known of the limits of the scan that others run.
    private var sharedDetail: String?
    /// Whether reports came since the scan was last looked after.
    private var hasHeard = false
    /// In a row, without success in between.
    private var failures = 0

    /// Begins before the socket is open.
    package init(parameters: HCIScanParameters) { self.parameters = parameters }

    /// Takes in what happened, and says what is to be done, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        guard phase != .closed || event == .opened else { return [] }
        switch event {
        case .opened: return advance(at: now)
        case .command(let command): return watch(command, at: now)
        case .answer(let answer): return take(answer, at: now)
        case .notSent(let number):
            if phase == .enabling { ownsScan = false }
            return fail("a command could not be sent: " + BluetoothError.text(ofSystemError: number), at: now)
        case .heard:
            hasHeard = true
            return []
        case .tick: return wake(at: now)
        }
    }

    /// What is to be done before the socket is closed: an own scan ends, one of others goes on as they began it.
    package mutating func close() -> [HCICommand] {
        var last: [HCICommand] = []
        if ownsScan { last = [commands.enable(false)] }
        if hasLiftedFilter { last = [commands.enable(true, filtersDuplicates: true)] }
        ownsScan = false
        hasLiftedFilter = false
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
    /// How long the adapter may take to answer: as long as the kernel itself grants it (HCI_CMD_TIMEOUT).
    package static let answerLimit = Duration.seconds(2)
    /// How long others get to begin a scan of their own after they ended one.
    ///
    /// The kernel ends a running scan, sets parameters and begins again, each a few milliseconds after the other. An own
    /// command in between would have its parameters refused, and the discovery of its user fail.
    package static let settlingTime = Duration.milliseconds(250)
    /// How often it is tried whether the scan of others still runs, should its end have been missed.
    package static let sharingCheck = Duration.seconds(10)
    /// How long an own scan may be silent before it is begun anew.
    ///
    /// Adapters are known to fall silent without a word; habluetooth looks after 90 s without an advertisement.
    package static let silenceLimit = Duration.seconds(60)
    /// The rest after the first failure; doubled after each further one.
    package static let firstRest = Duration.milliseconds(500)
    package static let longestRest = Duration.seconds(30)
}

// MARK: - Own commands

extension HCILinkMachine {
    /// The next step towards an own scan.
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

    /// An answer; whose command it answers is known, as the adapter gets one at a time.
    private mutating func take(_ answer: HCIAnswer, at now: Instant) -> [Directive] {
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
        case (_, commands.enableOpcode) where isLiftingFilter: return takeLifting(answer.status)
        case (.settingParameters, commands.parametersOpcode): return takeParameters(answer.status, at: now)
        // Late answers too: the scan runs.
        case (_, commands.enableOpcode) where ownsScan && phase != .scanning:
            return takeEnable(answer.status, at: now)
        default: return []
        }
    }

    /// Whether the kernel uses the extended commands, which must not be mixed with the others.
    ///
    /// Source: Linux, hci_core.h, use_ext_scan; the bits are those of the specification, Vol 4, Part E, 6.27.
    private static func hasExtended(_ answer: HCIAnswer) -> Bool {
        let setExtendedParametersAndEnable: UInt8 = 0x60
        guard answer.status == HCIAnswer.Status.success, answer.parameters.count > 37 else { return false }
        return answer.parameters[37] & setExtendedParametersAndEnable == setExtendedParametersAndEnable
    }

    private mutating func takeParameters(_ status: UInt8, at now: Instant) -> [Directive] {
        switch status {
        case HCIAnswer.Status.success: return enable(at: now)
        // The own scan runs already: its answer was late, or others ended it without success.
        case HCIAnswer.Status.disallowed where ownsScan: return enable(at: now)
        case HCIAnswer.Status.disallowed, HCIAnswer.Status.unknownCommand: return takeRefusal(status, at: now)
        default: return fail("scan parameters were refused with error \(Self.hexadecimal(status))", at: now)
        }
    }

    /// Either a scan of others runs, or it is the wrong set of commands: both are refused alike.
    private mutating func takeRefusal(_ status: UInt8, at now: Instant) -> [Directive] {
        guard hasExtended == true else {
            guard status == HCIAnswer.Status.disallowed else { return fail("it has no LE scan commands", at: now) }
            return share(detail: sharedDetail ?? Self.unknownDetail, at: now)
        }
        commands = commands.other
        guard let first = refusal else {
            refusal = status
            return setParameters(at: now)
        }
        guard [first, status].contains(HCIAnswer.Status.disallowed) else {
            return fail("it has no LE scan commands", at: now)
        }
        return share(detail: sharedDetail ?? Self.unknownDetail, at: now)
    }

    private mutating func takeEnable(_ status: UInt8, at now: Instant) -> [Directive] {
        guard status == HCIAnswer.Status.success else {
            ownsScan = false
            return fail("the scan was refused with error \(Self.hexadecimal(status))", at: now)
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
            return fail("it did not answer a command within \(Int(Self.answerLimit.seconds)) s", at: now)
        case .resting, .sharing: return advance(at: now)
        case .scanning: return lookAfterScan(at: now)
        case .closed: return []
        }
    }

    /// Begins a scan anew that was silent for long. Nobody is told: perhaps there was nothing to be heard.
    private mutating func lookAfterScan(at now: Instant) -> [Directive] {
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
        "0x" + (status < 16 ? "0" : "") + String(status, radix: 16, uppercase: true)
    }
}

// MARK: - Commands of others

extension HCILinkMachine {
    /// Somebody else's command is on its way.
    private mutating func watch(_ command: HCICommand, at now: Instant) -> [Directive] {
        foreign = command
        let isScanner = HCIScanCommand(command) != nil || command.opcode == HCICommand.Opcode.readSupportedCommands
        if isScanner { hasSeenOtherScanners = true }
        // They are about to begin: stay out of their way.
        if phase == .resting, HCIScanCommand(command) != nil { rest(at: now) }
        return []
    }

    /// Somebody else's command was carried out.
    private mutating func follow(_ command: HCIScanCommand, at now: Instant) -> [Directive] {
        switch command {
        case .parameters(let set, let acceptListOnly):
            use(set)
            self.acceptListOnly = acceptListOnly
            return []
        case .start(let set, let filtersDuplicates):
            use(set)
            // An own command that is still on its way comes behind theirs.
            guard phase != .enabling else { return [] }
            ownsScan = false
            let limits = share(detail: Self.detail(filtersDuplicates, acceptListOnly), at: now)
            // What is not reported at all is not reported more often.
            guard filtersDuplicates, !acceptListOnly else { return limits }
            hasLiftedFilter = true
            isLiftingFilter = true
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

    /// The scan of others is over.
    private mutating func forgetShared() {
        sharedDetail = nil
        hasLiftedFilter = false
    }

    /// The duplicate filter of a scan of others was lifted, or is there to stay.
    private mutating func takeLifting(_ status: UInt8) -> [Directive] {
        isLiftingFilter = false
        guard status == HCIAnswer.Status.success else {
            hasLiftedFilter = false
            return phase == .sharing ? [.report(.sharing, detail: sharedDetail)] : []
        }
        // They ended their scan in the meantime: lifting the filter began it again, for nobody.
        guard hasLiftedFilter else { return [.send(commands.enable(false))] }
        sharedDetail = Self.liftedDetail
        return phase == .sharing ? [.report(.sharing, detail: sharedDetail)] : []
    }

    /// The set of commands that works is the one that others use.
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

    /// What is said of a scan that was there first.
    package static let unknownDetail = "it was there first, and may filter duplicates"
    package static let liftedDetail = "its duplicate filter is lifted meanwhile"

    private static func detail(_ filtersDuplicates: Bool, _ acceptListOnly: Bool) -> String? {
        var limits: [String] = []
        if filtersDuplicates { limits.append("it filters duplicates, so that most repeated reports are missing") }
        if acceptListOnly { limits.append("it hears devices of its accept list only") }
        return limits.isEmpty ? nil : limits.joined(separator: ", and ")
    }
}

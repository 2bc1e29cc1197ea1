import Glibc
import IndoorLocalization
import TagTracking
import TagTrackingService

/// The alerts of a fleet on one machine.
struct TrackAlerts: Sendable {
    /// The name of the file in the folder with the state.
    private static let fileName = "alerts.db"

    /// The options; nil if there are no rules any more.
    private let options: AlertOptions?
    private let rules: AlertRules
    private let venue: Venue
    private let epoch: UInt64
    private let store: AlertStore?

    /// Whether there are rules.
    var isConfigured: Bool { options != nil }

    /// Returns whether a start with rules has left alerts in a folder.
    static func exist(in folder: StateFolder) -> Bool { access(folder.path + "/" + fileName, F_OK) == 0 }

    /// Opens the alerts of earlier starts. Without rules, they end.
    ///
    /// - Parameters:
    ///   - options: the options; nil if there are no rules any more.
    ///   - folder: the folder with the state; nil for none.
    /// - Throws: `AlertStoreError` if its file can't be used.
    init(
        _ options: AlertOptions?, _ rules: AlertRules, _ venue: Venue, epoch: UInt64, in folder: StateFolder?
    ) throws(AlertStoreError) {
        (self.options, self.rules, self.venue, self.epoch) = (options, rules, venue, epoch)
        store = try folder.map { folder throws(AlertStoreError) in
            try AlertStore(path: folder.path + "/" + Self.fileName)
        }
    }

    /// Returns the file with the rules; nil without one.
    ///
    /// - Parameter register: returns the present register, which has the names of the tags.
    func file(register: @escaping @Sendable () -> TagRegister) -> ReloadedFile<AlertRules>? {
        guard let options else { return nil }
        return ReloadedFile(options.path, option: "alerts", noun: "rules", rules, plural: true) { [venue] in
            try options.rules(venue, register())
        } count: {
            $0.list.count.counting("rule")
        }
    }

    /// Creates the service of the alerts; returns nil, and writes the reason to the log, if its file can't be read.
    func service(
        to destinations: [any FleetOutputSink], register: TagRegister, places: [FleetOutput],
        hearings: any HearingSource, isListening: Bool, clock: TrackRun.SharedClock
    ) async -> AlertService? {
        let setup = AlertService.Setup(
            rules: rules, register: register, epoch: epoch, places: places, store: store, webhook: options?.webhook)
        do throws(AlertStoreError) {
            return try await AlertService(
                setup, to: destinations, hearings: hearings, isListening: isListening, now: { clock.now() },
                steps: { clock.state.steps }
            ) { StandardError.line($0, .warning) }
        } catch {
            StandardError.line("--alerts: \(error); there are no alerts", .warning)
            return nil
        }
    }
}

extension ReloadedFile<AlertRules> {
    /// Passes rules that were read again to the service, until the task is cancelled.
    func pass(to service: AlertService) async {
        for await _ in changes {
            if let rules = take() { await service.use(rules: rules) }
        }
    }
}

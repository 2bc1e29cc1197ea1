import Foundation
import IndoorLocalization
import VenuePackets

/// What comes up while a service runs.
enum ServiceEvent: Sendable {
    /// The session tells, its instant counted from the start.
    case told(SessionReplay.Output)
    /// The settings of a server, or why there are none.
    case remote(RemoteSettings.Update)
    /// The settings are to be read again: SIGHUP.
    case reload
}

/// The signal that asks for the settings to be read again.
final class ReloadSignal {
    private let source: any DispatchSourceProtocol

    init(_ body: @escaping @Sendable () -> Void) {
        // The dispatch source hears it; what the signal would do otherwise must not happen.
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP)
        source.setEventHandler(handler: body)
        source.activate()
    }

    deinit { source.cancel() }
}

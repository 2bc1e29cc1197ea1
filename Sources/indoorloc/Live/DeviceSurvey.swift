import Foundation
import IndoorLocalization
import LiveSurvey
import VenuePackets

/// The survey with the device that a session locates.
struct DeviceSurvey: Sendable {
    /// The limits of a walk: more than an hour of ten beacons that advertise ten times a second.
    private static let limits: SurveyDesk.Limits = {
        var limits = SurveyDesk.Limits()
        limits.entries = 400_000
        return limits
    }()

    let device: SurveyedDevice
    let desk: SurveyDesk

    /// Creates the survey, and its folder if that is missing.
    ///
    /// - Parameter place: where editions of the packet are written.
    init(
        _ option: SurveyOption, _ packet: VenuePacket, place: SurveyMapDesk.Place, settings: SettingsStack, seed: UInt64
    ) throws(CommandError) {
        try option.createFolder()
        let start = Instant(seconds: Date().timeIntervalSince1970)
        let device = SurveyedDevice(venue: packet.venue, settings: settings, seed: seed, start: start)
        let maps = SurveyMapDesk(
            device, folder: option.folder, place: place, priority: SurveyOption.learningPriority)
        desk = SurveyDesk(device, folder: option.folder, limits: Self.limits, maps: maps) { device.now }
        self.device = device
    }
}

extension DeviceSurvey: SessionCompanion {
    func run(beside localizer: Localizer) async {
        device.begin(localizer)
        await device.run(desk) { StandardError.line("--survey: \($0)", .warning) }
    }
}

extension SettingsRegistry {
    /// Keys of the Nodle SDK's configuration that nothing here needs: a file that has them is read, and shows them.
    static let keptSettings: [Entry] = [
        kept("ble.enable", .flag, .flag(true), "a scan is on from start to stop"),
        kept("ble.scan.background", .wholeNumber(0...3), .number(2), "a service has no background"),
        kept("core.debug-log.enable", .flag, .flag(false), "nothing is logged; errors come on a stream"),
        kept("core.heartbeat.history", .wholeNumber(0...1_000_000), .number(100), "there are no heartbeats"),
        kept(
            "cron.ios-bg-mode-distance-meters", .number(0...1_000_000), unit: "m", .number(20),
            "a service has no background to be woken from by moving"),
        kept("dtn.use-cellular", .flag, .flag(true), "nothing that is heard is sent anywhere"),
    ]

    private static func kept(
        _ key: String, _ limits: SettingLimits, unit: String = "", _ standard: SettingValue, _ reason: String
    ) -> Entry {
        Entry(
            setting: Setting(
                key: key, limits: limits, unit: unit, isOptional: false, preference: nil, scope: .session,
                summary: "Kept and shown, of no effect: \(reason).",
                read: { _ in standard }, write: { _, _ in }, dependentLimits: nil),
            role: .kept(standard))
    }
}

import IndoorLocalization

extension CommandOption {
    /// Beacons of other layouts than the known ones.
    static let beaconLayout = CommandOption(
        name: "beacon-layout", argument: "LAYOUT", help: "beacons of another layout, as in m:2-3=beac,i:4-19,p:24-24")
}

extension ParsedArguments {
    /// The layouts that were asked for; the option may be given several times.
    func beaconLayouts() throws(UsageError) -> [BeaconLayout] {
        var layouts: [BeaconLayout] = []
        for text in values["beacon-layout"] ?? [] {
            do { layouts.append(try BeaconLayout(text)) } catch {
                throw UsageError(message: "--beacon-layout: \(error)", command: syntax.name)
            }
        }
        return layouts
    }
}

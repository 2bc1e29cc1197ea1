import BlueZScanning
import IndoorLocalization
import XCTest

/// The start of a scan, from the connection to the bus to the first report, and its errors.
final class DBusScanBeginningTests: XCTestCase {
    private let path = DBusStage.adapterPath

    func testTheScanListsTheServicesObjectsOnceConnected() throws {
        var stage = DBusStage()
        stage.happen(.connected)
        XCTAssertEqual(stage.call, .listObjects)
        guard case .send(let message) = try XCTUnwrap(stage.directives.first) else {
            return XCTFail("no message is sent")
        }
        XCTAssertEqual(message.member, "GetManagedObjects")
        XCTAssertEqual(message.destination, "org.bluez")
        XCTAssertEqual(message.path, "/")
        XCTAssertTrue(message.expectsReply)
    }

    func testAPoweredAdapterScansAfterFilterAndStart() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        XCTAssertEqual(stage.statuses, [])
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
        XCTAssertEqual(stage.events.first?.adapter, "hci0")
        XCTAssertNil(stage.call)
    }

    func testTheFilterAsksForLowEnergyAndForDuplicates() {
        let message = BlueZCall.setFilter(adapter: path, duplicates: true).message(serial: 9)
        XCTAssertEqual(
            message.body,
            [.properties(["Transport": .string("le"), "DuplicateData": .boolean(true)])])
        XCTAssertEqual(message.body.first?.typeSignature, "a{sv}")
    }

    func testAMonitorIsRegisteredBeforeDiscoveryWhereItIsSupported() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        XCTAssertEqual(stage.call, .registerMonitor(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        XCTAssertEqual(stage.machine.memory.monitor, .registered)
    }

    func testDiscoveryStartsAfterARefusedMonitor() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        XCTAssertEqual(stage.machine.memory.monitor, .refused)
    }

    // MARK: - Power

    func testAnAdapterThatIsOffWhenFoundIsPoweredOnAndOffAgainAtTheEnd() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
        stage.answer()
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
        stage.happen(.stop)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .setPower(adapter: path, false))
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
    }

    func testTheSignalOfPowerMayComeBeforeTheAnswer() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
    }

    func testTheScanWaitsUntilARadioSwitchReleasesTheAdapter() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false, state: "off-blocked")])])
        XCTAssertEqual(stage.statuses, [.blocked])
        XCTAssertNil(stage.call)
        stage.adapterChanges(["PowerState": .string("off")])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
    }

    func testPowerRefusedByARadioSwitchIsReportedAsBlockedAndRetriedWithGrowingPauses() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        var pauses: [Duration] = []
        for attempt in 1...7 {
            stage.refuse("org.bluez.Error.Blocked")
            XCTAssertEqual(stage.statuses, attempt == 1 ? [.blocked] : [], "attempt \(attempt)")
            guard let due = stage.machine.dueTime else { return XCTFail("attempt \(attempt) is the last") }
            pauses.append(stage.now.duration(to: due))
            stage.wait(stage.now.duration(to: due))
            XCTAssertEqual(stage.call, .setPower(adapter: path, true), "attempt \(attempt)")
        }
        XCTAssertEqual(pauses, [1, 2, 4, 8, 16, 30, 30].map(Duration.seconds))
    }

    func testAServiceThatIsPoweringTheAdapterIsNotARefusal() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        stage.refuse("org.bluez.Error.Busy")
        XCTAssertEqual(stage.statuses, [])
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
    }

    // MARK: - Which adapter

    func testTheFirstAdapterIsTheOneWithTheLowestNumber() {
        var stage = DBusStage()
        stage.happen(.connected)
        let names = ["hci10", "hci2", "hci9"]
        let objects = names.map { ("/org/bluez/\($0)", DBusStage.adapter()) }
        stage.answer([DBusStage.objects(Dictionary(uniqueKeysWithValues: objects))])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci2", duplicates: true))
    }

    func testAnAdapterIsFoundByItsAddressUnderAnyName() throws {
        let address = try XCTUnwrap(DeviceAddress("AA:BB:CC:DD:EE:FF"))
        var stage = DBusStage(adapter: .address(address))
        stage.happen(.connected)
        stage.answer([
            DBusStage.objects([
                path: DBusStage.adapter(), "/org/bluez/hci5": DBusStage.adapter(address: "AA:BB:CC:DD:EE:FF"),
            ])
        ])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci5", duplicates: true))
    }

    func testAMissingAdapterIsReportedAfterTheServicesTimeToAddIt() {
        var stage = DBusStage(adapter: .named("hci3"))
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        XCTAssertEqual(stage.statuses, [])
        stage.wait(BlueZScanSettings.adapterTimeout)
        XCTAssertEqual(stage.statuses, [.unplugged])
        XCTAssertNil(stage.machine.dueTime)
    }

    // MARK: - Errors

    func testAMissingBusAtTheStartIsAnError() {
        var stage = DBusStage()
        stage.happen(.connectionFailed(reason: "no such socket", isDenied: false))
        XCTAssertEqual(stage.directives, [.fail(.busUnavailable(reason: "no such socket")), .close])
        XCTAssertEqual(stage.machine.state, .ended)
    }

    func testABusThatDeniesTheConnectionIsAnError() {
        var stage = DBusStage()
        stage.happen(.connectionFailed(reason: "access denied", isDenied: true))
        XCTAssertEqual(stage.directives, [.fail(.busForbidden(reason: "access denied")), .close])
    }

    func testADeniedCallIsAnErrorWithTheReasonOfTheBus() {
        let name = "org.freedesktop.DBus.Error.AccessDenied"
        for answers in 0...2 {
            var stage = DBusStage()
            stage.happen(.connected)
            if answers > 0 { stage.answer([DBusStage.objects([path: DBusStage.adapter()])]) }
            if answers > 1 { stage.answer() }
            stage.refuse(name)
            XCTAssertEqual(
                stage.directives, [.fail(.busForbidden(reason: "refused by the test (\(name))")), .close],
                "after \(answers) answers")
        }
    }

    func testAMissingServiceIsReportedAndTheScanWaitsForItsName() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.refuse("org.freedesktop.DBus.Error.ServiceUnknown")
        XCTAssertEqual(stage.statuses, [.serviceLost])
        XCTAssertEqual(stage.machine.state, .resting(until: nil))
        stage.ownerChanges(to: DBusStage.owner)
        XCTAssertEqual(stage.call, .listObjects)
    }

    func testAServiceThatDoesNotAnswerIsAskedAgain() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.wait(BlueZScanSettings.longTimeout)
        XCTAssertEqual(stage.statuses, [.serviceLost])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .listObjects)
    }

    func testALateAnswerIsIgnored() throws {
        var stage = DBusStage()
        stage.happen(.connected)
        let late = try XCTUnwrap(stage.pending)
        stage.wait(BlueZScanSettings.longTimeout)
        let before = stage.machine
        var message = BusMessage(kind: .methodReturn)
        message.replySerial = late.serial
        stage.happen(.received(message))
        XCTAssertEqual(stage.directives, [])
        XCTAssertEqual(stage.machine, before)
    }
}

/// Interruptions of a running scan, and its automatic recovery.
final class DBusScanRecoveryTests: XCTestCase {
    private let path = DBusStage.adapterPath

    func testALossOfPowerIsReportedAndTheScanWaitsForPower() {
        var stage = DBusStage()
        stage.begin()
        stage.wait(BlueZScanSettings.handoverTime + .milliseconds(1))
        stage.adapterChanges(["Powered": .boolean(false)])
        XCTAssertEqual(stage.statuses, [.poweredOff])
        XCTAssertNil(stage.call)
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    /// The earlier scan had powered the adapter on, and ends only after the next one has found it powered.
    func testAnAdapterThatTheEndOfAnEarlierScanPowersOffIsPoweredOnAgain() {
        for isScanning in [true, false] {
            var stage = DBusStage()
            if isScanning {
                stage.begin()
            } else {
                stage.happen(.connected)
                stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
            }
            stage.adapterChanges(["Powered": .boolean(false)])
            XCTAssertEqual(stage.statuses, [])
            XCTAssertEqual(stage.call, .setPower(adapter: path, true))
            stage.refuse("org.bluez.Error.Busy")
            stage.wait(BlueZScanSettings.firstPause)
            XCTAssertEqual(stage.call, .setPower(adapter: path, true), "the service was still powering it off")
            stage.answer()
            stage.answer()
            stage.answer()
            // A second loss isn't the end of that scan.
            stage.adapterChanges(["Powered": .boolean(false)])
            XCTAssertEqual(stage.statuses, [.poweredOff])
            XCTAssertNil(stage.call)
        }
    }

    func testARadioSwitchIsReportedAsBlocked() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Powered": .boolean(false), "PowerState": .string("off-blocked")])
        XCTAssertEqual(stage.statuses, [.blocked])
    }

    func testALossOfPowerThatEndsDiscoveryFirstIsReportedOnce() {
        var stage = DBusStage()
        stage.begin()
        stage.wait(BlueZScanSettings.handoverTime + .milliseconds(1))
        stage.adapterChanges(["Discovering": .boolean(false)])
        XCTAssertEqual(stage.statuses, [])
        stage.adapterChanges(["Powered": .boolean(false)])
        XCTAssertEqual(stage.statuses, [.poweredOff])
    }

    func testDiscoveryThatTheServiceStopsIsRestartedAfterAPause() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Discovering": .boolean(false)])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
    }

    func testAnUnpluggedAdapterIsReportedAndFoundAgainUnderAnotherName() throws {
        let address = try XCTUnwrap(DeviceAddress("C0:05:04:03:02:01"))
        var stage = DBusStage(adapter: .address(address))
        stage.begin()
        stage.wait(.seconds(60))
        stage.signal(
            "InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.statuses, [.unplugged])
        let back = DBusStage.interfaces(DBusStage.adapter())
        stage.signal("InterfacesAdded", [.objectPath("/org/bluez/hci1"), back])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci1", duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.events.map(\.adapter), ["hci1"])
    }

    func testTheDevicesOfAnUnpluggedAdapterAreRemoved() {
        var stage = DBusStage()
        stage.begin()
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        stage.signal(
            "InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.machine.memory.objects.devices, [:])
    }

    func testAnotherAdapterDoesNotDisturbTheOneThatScans() {
        var stage = DBusStage()
        stage.begin()
        let before = stage.machine.state
        stage.signal(
            "InterfacesAdded", [.objectPath("/org/bluez/hci1"), DBusStage.interfaces(DBusStage.adapter())])
        XCTAssertEqual(stage.directives, [])
        XCTAssertEqual(stage.machine.state, before)
    }

    func testAServiceRestartIsReportedAndTheScanResumes() {
        var stage = DBusStage()
        stage.begin()
        stage.ownerChanges(to: "")
        XCTAssertEqual(stage.statuses, [.serviceLost])
        XCTAssertNil(stage.machine.dueTime)
        stage.ownerChanges(to: DBusStage.owner)
        XCTAssertEqual(stage.call, .listObjects)
        stage.answer([DBusStage.objects([:])])
        XCTAssertEqual(stage.statuses, [])
        stage.signal("InterfacesAdded", [.objectPath(path), DBusStage.interfaces(DBusStage.adapter(isPowered: false))])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
        stage.answer()
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testTheScanReconnectsToALostBusAfterPausesOfOneToThirtySeconds() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.disconnected)
        XCTAssertEqual(stage.statuses, [.serviceLost])
        var pauses: [Duration] = []
        for _ in 1...7 {
            guard let due = stage.machine.dueTime else { return XCTFail("the scan doesn't retry") }
            pauses.append(stage.now.duration(to: due))
            stage.wait(stage.now.duration(to: due))
            XCTAssertEqual(stage.directives, [.connect])
            stage.happen(.connectionFailed(reason: "no such socket", isDenied: false))
        }
        XCTAssertEqual(pauses, [1, 2, 4, 8, 16, 30, 30].map(Duration.seconds))
        stage.begin()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testARefusedDiscoveryIsReportedOnceAndRetriedAfterAStop() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [.refused])
        stage.wait(.seconds(1))
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [])
        stage.wait(.seconds(2))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testADiscoveryWithoutAnAnswerIsStartedAgain() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.wait(BlueZScanSettings.timeout)
        XCTAssertEqual(stage.statuses, [.refused])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testTheScanUsesAnotherProgramsDiscoveryWhileItsOwnIsRefused() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        stage.adapterChanges(["Discovering": .boolean(true)])
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [.sharing])
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        XCTAssertEqual(stage.sightings.count, 1)
        stage.wait(.seconds(1))
        stage.answer()
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [])
        stage.deviceChanges(["RSSI": .int16(-61)])
        XCTAssertEqual(stage.sightings.count, 1)
        // The other program's discovery has ended: the scan soon tries its own.
        stage.adapterChanges(["Discovering": .boolean(false)])
        stage.wait(.seconds(1))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testSignalsCausedByAFailedCallDoNotShortenThePause() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false, state: "off")])])
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.statuses, [.refused])
        let resting = stage.machine.state
        let noise: [BusProperties] = [
            ["PowerState": .string("off-enabling")], ["PowerState": .string("off")], ["Discovering": .boolean(true)],
            ["Discovering": .boolean(false)], ["Powered": .boolean(false)],
        ]
        for changes in noise {
            stage.adapterChanges(changes)
            XCTAssertEqual(stage.directives, [], "\(changes)")
            XCTAssertEqual(stage.machine.state, resting, "\(changes)")
        }
    }

    func testTheMonitorContinuesWhenDiscoveryIsRefused() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        stage.answer()
        stage.answer()
        stage.refuse("org.bluez.Error.NotReady")
        XCTAssertEqual(stage.statuses, [.sharing])
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        XCTAssertEqual(stage.sightings.count, 1)
    }

    func testAReleasedMonitorIsNotRegisteredAgainAndDiscoveryContinues() {
        var stage = DBusStage()
        stage.begin(supportsMonitors: true)
        var release = BusMessage.call(
            "Release", of: AdvertisementMonitor.interface, on: AdvertisementMonitor.path, at: ":1.9", serial: 4)
        release.sender = DBusStage.owner
        stage.happen(.received(release))
        XCTAssertEqual(stage.machine.memory.monitor, .refused)
        XCTAssertEqual(stage.statuses, [.scanning])
        XCTAssertNil(stage.call)
    }

    // MARK: - The end

    func testTheEndStopsOnlyWhatTheScanStarted() {
        var stage = DBusStage()
        stage.begin(supportsMonitors: true)
        stage.happen(.stop)
        XCTAssertEqual(stage.sentMembers, ["StopDiscovery"])
        stage.answer()
        XCTAssertEqual(stage.sentMembers, ["UnregisterMonitor"])
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
        XCTAssertEqual(stage.machine.state, .ended)
    }

    /// A scan whose adapter is off, and that waits for the answer to its request for power.
    private func poweringStage() -> DBusStage {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false)])])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
        return stage
    }

    func testTheEndPowersOffAnAdapterThatIsBeingPoweredOn() {
        for isAnswered in [true, false] {
            var stage = poweringStage()
            stage.happen(.stop)
            XCTAssertEqual(stage.directives, [], "the service would refuse the call")
            if isAnswered { stage.answer() } else { stage.wait(BlueZScanSettings.powerTimeoutAtEnd) }
            XCTAssertEqual(stage.sentMembers, ["Set"])
            XCTAssertEqual(stage.call, .setPower(adapter: path, false))
            stage.answer()
            XCTAssertEqual(stage.directives, [.close])
        }
    }

    func testTheEndLeavesAnAdapterOnThatTheServiceIsPoweringOn() {
        var stage = poweringStage()
        stage.happen(.stop)
        stage.refuse("org.bluez.Error.Busy")
        XCTAssertEqual(stage.directives, [.close])
    }

    func testTheEndPowersOffAnAdapterWhoseSignalOfPowerCameBeforeTheAnswer() {
        var stage = poweringStage()
        stage.adapterChanges(["Powered": .boolean(true)])
        stage.happen(.stop)
        XCTAssertEqual(stage.call, .setPower(adapter: path, false))
    }

    func testTheEndUndoesAMonitorAndADiscoveryThatAreNotConfirmedYet() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        var other = stage
        other.happen(.stop)
        other.answer()
        XCTAssertEqual(other.sentMembers, ["UnregisterMonitor"])
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.happen(.stop)
        for member in ["StopDiscovery", "UnregisterMonitor"] {
            stage.answer()
            XCTAssertEqual(stage.sentMembers, [member])
        }
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
    }

    func testTheEndWaitsOnlyBrieflyForAServiceThatDoesNotAnswer() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.stop)
        stage.wait(BlueZScanSettings.timeoutAtEnd)
        XCTAssertEqual(stage.directives, [.close])
    }

    func testNothingHappensAfterTheEnd() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.stop)
        stage.answer()
        let events: [BlueZScanMachine.Event] = [
            .connected, .disconnected, .connectionFailed(reason: "", isDenied: true), .tick, .stop,
            .received(BusMessage(kind: .signal)),
        ]
        for event in events {
            stage.happen(event)
            XCTAssertEqual(stage.directives, [], "\(event)")
            XCTAssertEqual(stage.machine.state, .ended, "\(event)")
        }
    }

    func testAScanThatIsStoppedBeforeTheBusIsReachedJustCloses() {
        var stage = DBusStage()
        stage.happen(.stop)
        XCTAssertEqual(stage.directives, [.close])
    }
}

/// Restarts of discovery if the controller filters duplicates.
final class DBusRenewalTests: XCTestCase {
    private let path = DBusStage.adapterPath

    /// Returns a running scan with a number of reports of a beacon.
    private func scanningStage(reports: Int, supportsMonitors: Bool = false) -> DBusStage {
        var stage = DBusStage()
        stage.begin(supportsMonitors: supportsMonitors)
        for number in 0..<reports {
            number == 0
                ? stage.deviceAppears(DBusStage.beacon(rssi: -60)) : stage.deviceChanges(["RSSI": .int16(-61)])
        }
        return stage
    }

    func testOneReportOfADeviceInAScanIndicatesADuplicateFilter() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .filters)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: DuplicateFilterDetector.renewal))
        XCTAssertEqual(stage.statuses, [])
        stage.wait(DuplicateFilterDetector.renewal)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
    }

    func testDiscoveryContinuesIfADeviceIsReportedRepeatedly() {
        var stage = scanningStage(reports: 3)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .repeats)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertNil(stage.call)
        let heardAt = stage.now.advanced(by: .zero - DuplicateFilterDetector.observation)
        XCTAssertEqual(stage.machine.dueTime, heardAt.advanced(by: BlueZScanSettings.longestSilence))
    }

    func testSilenceGivesNoVerdictAndTheObservationContinues() {
        var stage = scanningStage(reports: 0)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertNil(stage.call)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .undecided)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: DuplicateFilterDetector.observation))
    }

    func testWithAMonitorOnlySilenceRestartsDiscovery() {
        var stage = scanningStage(reports: 1, supportsMonitors: true)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: BlueZScanSettings.longestSilence))
        stage.now = stage.now.advanced(by: .seconds(59))
        stage.deviceChanges(["RSSI": .int16(-62)])
        stage.wait(.seconds(1))
        XCTAssertNil(stage.call)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: .seconds(59)))
    }

    func testDiscoveryIsRestartedAfterAMinuteOfSilence() {
        var stage = scanningStage(reports: 1, supportsMonitors: true)
        stage.wait(BlueZScanSettings.longestSilence)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.statuses, [])
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: BlueZScanSettings.longestSilence))
    }

    func testReportsAreDeliveredWhileDiscoveryRestarts() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.deviceChanges(["RSSI": .int16(-62)])
        XCTAssertEqual(stage.sightings.map(\.rssi), [-62])
    }

    func testASignalOfTheEndDoesNotDisturbARestart() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.adapterChanges(["Discovering": .boolean(false)])
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.adapterChanges(["Discovering": .boolean(true)])
        stage.answer()
        XCTAssertEqual(stage.machine.state, .resting(until: stage.now.advanced(by: DuplicateFilterDetector.renewal)))
    }

    func testAnAdapterThatIsPluggedInAgainIsObservedAgain() {
        var stage = scanningStage(reports: 3)
        stage.signal("InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .undecided)
    }

    func testStoppingDuringARestartEndsTheScan() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.happen(.stop)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
    }
}
